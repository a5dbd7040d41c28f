"""``torch.optim.lr_scheduler``: rates are numbers. One that is given a loss looks at its value, and keeps no graph.

scheduler = ReduceLROnPlateau(optimizer)
scheduler.step(val_loss)            # as far as graphs go nothing happens here
"""

from __future__ import annotations

from ....domain.state import State
from ....domain.values import NONE, External, HeapRef, Instance, Optimizer, Unknown, Value
from ....engine.machine import Machine
from ..registry import FUNCTIONS, Call

PACKAGE = "torch.optim.lr_scheduler"
SCHEDULERS = (
    "LambdaLR MultiplicativeLR StepLR MultiStepLR ConstantLR LinearLR ExponentialLR SequentialLR CosineAnnealingLR "
    "ChainedScheduler ReduceLROnPlateau CyclicLR CosineAnnealingWarmRestarts OneCycleLR PolynomialLR"
).split()
ASKED = "get_last_lr get_lr state_dict print_lr".split()


def _made(machine: Machine, state: State, call: Call) -> Value:
    held = call.get(0, "optimizer")
    is_known = isinstance(held, HeapRef) and isinstance(state.heap[held.id], Optimizer)
    return HeapRef(state.new(Instance(External(call.name), {"optimizer": held} if is_known else {}, True)))


def _nothing(machine: Machine, state: State, call: Call) -> Value:
    return NONE


def _numbers(machine: Machine, state: State, call: Call) -> Value:
    return Unknown(call.name, False)


for _name in SCHEDULERS:
    FUNCTIONS[f"{PACKAGE}.{_name}"] = _made
    FUNCTIONS |= dict.fromkeys((f"{PACKAGE}.{_name}.step", f"{PACKAGE}.{_name}.load_state_dict"), _nothing)
    FUNCTIONS |= dict.fromkeys((f"{PACKAGE}.{_name}.{_asked}" for _asked in ASKED), _numbers)
