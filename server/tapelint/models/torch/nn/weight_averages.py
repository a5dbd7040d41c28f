"""``torch.optim.swa_utils``: a copy of a model whose parameters are averages.

averaged = AveragedModel(model)       # a deep copy
averaged.update_parameters(model)     # writes the parameters of the copy, in place
"""

from __future__ import annotations

from ....autograd import bump
from ....domain.state import State
from ....domain.values import NONE, External, HeapRef, Instance, Unknown, Value
from ....engine.machine import Machine
from ...python.copying import deep_copy
from ..registry import FUNCTIONS, Call, answers, function
from .module_registry import is_module_like, parameters_of

AVERAGED = "torch.optim.swa_utils.AveragedModel"


@function(AVERAGED)
def averaged_model(machine: Machine, state: State, call: Call) -> Value:
    model = call.get(0, "model")
    if not isinstance(model, HeapRef) or not is_module_like(state, model):
        return Unknown("AveragedModel")
    copy = deep_copy(machine, state, model, call)
    return HeapRef(state.new(Instance(External(AVERAGED), {"module": copy, "forward": copy})))


def update_parameters(machine: Machine, state: State, call: Call) -> Value:
    for _, key in parameters_of(state, call.args[0]):
        bump(state, state.tensors[key].version_counter, "update_parameters", call.node, tensor=key)
    return NONE


FUNCTIONS[f"{AVERAGED}.update_parameters"] = update_parameters


# Passes without grad that write running statistics; those have no versions that any code checks.
answers(lambda: NONE, "torch.optim.swa_utils.update_bn")
