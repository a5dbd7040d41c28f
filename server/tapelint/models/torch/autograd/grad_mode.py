"""``torch.no_grad``, ``enable_grad``, ``inference_mode``, ``set_grad_enabled``: context managers, decorators,
functions.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from ....autograd.events.broken_graph import ManagerNotCalled
from ....domain.completion import ProgramRaised
from ....domain.state import State
from ....domain.values import NONE, Autocast, Const, External, Function, GradMode, SavedTensorHooks, Unknown, Value
from ....engine.machine import Machine
from ....ops.torch_attributes import kind_of_name
from ....source import cached_on_node, last_name, walk
from ..registry import Call, function

NAMES = {
    "no_grad": GradMode(False),
    "enable_grad": GradMode(True),
    "inference_mode": GradMode(False, True),
    "once_differentiable": GradMode(False),
}
OFF = ("no_grad", "inference_mode")
SWITCH = "set_grad_enabled"
MANAGERS = (GradMode, Autocast, SavedTensorHooks)
"""Context managers that set what autograd records. They are true."""


def waits_to_be_entered(value: Value) -> bool:
    """Whether a value is a context manager that sets what autograd records, and only where it is entered."""
    return isinstance(value, MANAGERS) and not (isinstance(value, GradMode) and value.before is not None)


def as_mode(value: Value) -> GradMode | None:
    """The grad mode a context manager or decorator stands for, also where it is not called (``@torch.no_grad``)."""
    if isinstance(value, GradMode):
        return value
    if isinstance(value, External) and value.name.startswith("torch."):
        return NAMES.get(value.name.rpartition(".")[2])
    return None


def entered_or_left(machine: Machine, state: State, manager: Value, name: str) -> Value | None:
    """``__enter__`` and ``__exit__`` of a manager, called by name: what was on before is on again when it is left."""
    mode = manager if isinstance(manager, GradMode) else None
    if name == "__enter__":
        state.modes_outside = (*state.modes_outside, mode.before if mode and mode.before else state.modes)
        if mode is not None:
            state.enter(mode.mode, mode.inference)
    elif name == "__exit__":
        *outside, state.modes = state.modes_outside or [(None, state.inference, None)]
        state.modes_outside = tuple(outside)
    else:
        return None
    if isinstance(manager, Autocast):
        machine.facts.running.casting = manager.enabled and name == "__enter__"
    return NONE


def refuse_class(machine: Machine, state: State, manager: ast.expr, value: Value) -> None:
    """Raise where ``with`` is given a class of PyTorch and no object of it: ``with torch.no_grad:``."""
    if isinstance(value, External) and kind_of_name(value.name) == "class":
        if not machine.handlers_around:
            machine.facts.events.publish(ManagerNotCalled(point=state.point(manager), manager=manager))
        words = "'type' object does not support the context manager protocol"
        raise ProgramRaised("TypeError", words, by_torch=True)


def switches_off(node: ast.expr) -> bool:
    """Whether an expression switches gradients off, by its text: ``torch.no_grad()``, ``torch.inference_mode()``,
    ``torch.set_grad_enabled(False)``.
    """
    call = node if isinstance(node, ast.Call) else None
    name = call.func if call is not None else node
    last = name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
    if last == SWITCH:
        given = call.args[0] if call is not None and call.args else None
        return isinstance(given, ast.Constant) and given.value is False
    return last in OFF and not (call is not None and call.args)


@cached_on_node
def turns_on(function: ast.AST) -> bool:
    """Whether the first thing that a function does to the grad mode is to switch gradients on, in a statement: then who
    calls it has them off.
    """
    return _switches(function)[:1] == [True]


@cached_on_node
def turns_off(function: ast.AST) -> bool:
    """Whether the last thing that a function does to the grad mode is to switch gradients off, in a statement: then who
    calls it has them off afterwards.
    """
    return _switches(function)[-1:] == [False]


def _switches(function: ast.AST) -> list[object]:
    """What the statements of a function set the grad mode to, in their order; None where that is not written."""
    statements = (node.value for node in walk(function) if isinstance(node, ast.Expr))
    calls = [node for node in statements if isinstance(node, ast.Call) and last_name(node.func) == SWITCH]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    given = ([*call.args, *(keyword.value for keyword in call.keywords)] for call in calls)
    return [each[0].value if len(each) == 1 and isinstance(each[0], ast.Constant) else None for each in given]


@function("torch.no_grad", "torch.autograd.no_grad", "torch.autograd.grad_mode.no_grad")
def no_grad(machine: Machine, state: State, call: Call) -> Value:
    return _decorated(call, GradMode(False))


@function("torch.enable_grad", "torch.autograd.enable_grad", "torch.autograd.grad_mode.enable_grad")
def enable_grad(machine: Machine, state: State, call: Call) -> Value:
    return _decorated(call, GradMode(True))


@function("torch.inference_mode", "torch.autograd.inference_mode")
def inference_mode(machine: Machine, state: State, call: Call) -> Value:
    mode = call.flag(0, "mode", True)
    if call.args and not isinstance(call.args[0], Const):
        return _decorated(call, GradMode(False, True))
    return GradMode(False, True) if mode else GradMode(None if mode is None else True, False)


def _decorated(call: Call, mode: GradMode) -> Value:
    if call.args and isinstance(call.args[0], Function):
        return replace(call.args[0], grad_mode=mode.mode, inference=mode.inference)
    return mode


@function("torch.set_grad_enabled", "torch.autograd.set_grad_enabled", "torch._C._set_grad_enabled")
def set_grad_enabled(machine: Machine, state: State, call: Call) -> Value:
    """Acts at once, and as a context manager puts back what was: ``with`` records the mode before its expression is
    evaluated.
    """
    mode, before = call.flag(0, "mode", True), state.modes
    state.enter(mode, None)
    if state.grad_mode != before[0]:
        state.changes += 1
    state.grad_mode_set_at = state.point(call.node) if mode is False else None
    return GradMode(mode, before=before)


@function("torch.is_grad_enabled")
def is_grad_enabled(machine: Machine, state: State, call: Call) -> Value:
    return Const(state.grad_mode) if state.grad_mode is not None else Unknown("grad_mode")
