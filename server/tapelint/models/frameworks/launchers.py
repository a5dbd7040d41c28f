"""Frameworks that the program calls itself: ``accelerator.backward(loss)``, ``fabric.setup(model)``,
``self.manual_backward(loss)``. Which they are is data of ``models/frameworks``.
"""

from __future__ import annotations

from ...autograd import set_by_program
from ...domain import facets
from ...domain.completion import ProgramRaised
from ...domain.state import State
from ...domain.values import (
    NONE,
    BuiltinMethod,
    Const,
    External,
    HeapRef,
    Instance,
    Optimizer,
    Sequence,
    TensorRef,
    Tuple,
    Value,
    something,
)
from ...engine.machine import Machine
from ..torch.autograd.backward_calls import go_backward, retention
from ..torch.nn import modules
from ..torch.registry import FUNCTIONS, Call, answers
from . import paused_optimizers
from .configured_optimizers import optimizers_of
from .training_loops import LAUNCHERS, MANUAL, is_framework_object, method_of


def launcher(machine: Machine, state: State, call: Call) -> Value:
    return HeapRef(state.new(Instance(External(call.name), {}, True)))


def walk(machine: Machine, state: State, call: Call) -> Value:
    """``backward(loss)`` of a launcher; ``call.args`` begins with the launcher itself."""
    given = call.get(1, "loss", call.get(1, "tensor"))
    if given == NONE:
        raise ProgramRaised("AttributeError")
    if not isinstance(given, TensorRef):
        return machine.call_unknown(
            state, call.args[1:], call.kwargs, call.node, BuiltinMethod(call.args[0], call.name)
        )
    go_backward(machine, state, [given.id], call.node, *retention(call, 3, 4), None)
    return NONE


def handed_back(machine: Machine, state: State, call: Call) -> Value:
    """One argument as it is, several as a tuple. Networks, optimizers and data are prepared, so what unknown code has
    returned is no tensor with a graph.
    """
    paused_optimizers.prepare(state, call)
    named = (value for name, value in call.kwargs.items() if name in ("model", "module"))
    given = [something(call.name) if _is_of_unknown_code(state, value) else value for value in (*call.args[1:], *named)]
    return given[0] if len(given) == 1 else Tuple(tuple(given))


def _is_of_unknown_code(state: State, value: Value) -> bool:
    """Whether a value is taken for a tensor because unknown code that may keep a graph has returned it."""
    if not isinstance(value, TensorRef):
        return False
    tensor = state.tensors[value.id]
    return tensor.assumption is not None and not tensor.parameter


for _name, _methods in LAUNCHERS.items():
    FUNCTIONS.setdefault(_name, launcher)
    FUNCTIONS[f"{_name}.backward"] = walk
    for _method in _methods:
        FUNCTIONS[f"{_name}.{_method}"] = handed_back
    # They show, save or wait (the pages of both classes): nothing of them trains.
    answers(lambda: NONE, *(f"{_name}.{each}" for each in "print log log_dict save barrier wait_for_everyone".split()))


def _is_lightning(state: State, receiver: HeapRef) -> bool:
    return is_framework_object(state, receiver, MANUAL[0])


@method_of(_is_lightning, MANUAL[1])
def manual_backward(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    return walk(machine, state, Call(call.name, [receiver, *call.args], call.kwargs, call.node, call.key))


@method_of(_is_lightning, "optimizers")
def optimizers(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    """What the object's own ``configure_optimizers`` has made: one, or a list."""
    made = optimizers_of(machine, state, receiver, "configure_optimizers", call.node)
    if made == NONE:
        return machine.call_unknown(state, call.args, call.kwargs, call.node, BuiltinMethod(receiver, call.name))
    return HeapRef(state.new(Sequence("list", list(made.items)))) if isinstance(made, Tuple) else made


@method_of(_is_lightning, "toggle_optimizer")
def toggle_optimizer(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    """What other optimizers hold does not require grad until ``untoggle_optimizer``."""
    made = optimizers_of(machine, state, receiver, "configure_optimizers", call.node)
    chosen = call.get(0, "optimizer")
    if made == NONE:
        return machine.call_unknown(state, call.args, call.kwargs, call.node, BuiltinMethod(receiver, call.name))
    if not isinstance(made, Tuple) or not isinstance(chosen, HeapRef) or chosen not in made.items:
        return NONE
    own = set(state.get(chosen.id, Optimizer).params)
    all_of_them = [each for each in made.items if isinstance(each, HeapRef)]
    others = {key for each in all_of_them for key in state.get(each.id, Optimizer).params} - own
    off = [key for key in sorted(others) if state.tensors[key].requires_grad]
    state.edit_attributes(receiver.id)[facets.TOGGLED_OFF] = Tuple(tuple(TensorRef(key) for key in off))
    for key in off:
        set_by_program(machine.facts, state, state.tensors[key], False, call.node)
    return NONE


@method_of(_is_lightning, "untoggle_optimizer")
def untoggle_optimizer(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    off = state.edit_attributes(receiver.id).pop(facets.TOGGLED_OFF, NONE)
    toggled = off.items if isinstance(off, Tuple) else ()
    for item in toggled:
        if isinstance(item, TensorRef):
            set_by_program(machine.facts, state, state.tensors[item.id], True, call.node)
    return NONE


@method_of(_is_lightning, "freeze", "unfreeze")
def freeze(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    """Whether all parameters require grad, and the mode."""
    on = Call(call.name, [Const(call.name == "unfreeze")], {}, call.node, call.key)
    modules.requires_grad(machine, state, receiver, on)
    modules.train(machine, state, receiver, Call("train", on.args, {}, call.node, call.key))
    return NONE
