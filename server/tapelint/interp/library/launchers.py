"""Frameworks that the program calls itself: ``accelerator.backward(loss)``, ``fabric.setup(model)``,
``self.manual_backward(loss)``. Which they are is data of ``interp/frameworks``.
"""

from __future__ import annotations

from ...tape import State
from ..calls import unknown_call
from ..frameworks import LAUNCHERS, MANUAL, is_framework_object
from ..machine import Machine
from ..values import FALSE, NONE, Const, Instance, Lib, Method, Ref, TensorRef, Tuple, Value
from .backward import go_backward
from .registry import FUNCTIONS, MODULE_METHODS, Call, method


def launcher(m: Machine, state: State, call: Call) -> Value:
    return Ref(state.new(Instance(Lib(call.name), {}, True)))


def walk(m: Machine, state: State, call: Call) -> Value:
    """``backward(loss)`` of a launcher; ``call.args`` begins with the launcher itself."""
    given = call.get(1, "loss", call.get(1, "tensor"))
    if not isinstance(given, TensorRef):
        return unknown_call(m, state, call.args[1:], call.kwargs, call.node, Method(call.args[0], call.name))
    create, retain = call.kwargs.get("create_graph", FALSE), call.kwargs.get("retain_graph", NONE)
    if retain == NONE:
        retain = create
    go_backward(m, state, [given.id], call.node, _flag(retain), _flag(create), None)
    return NONE


def _flag(value: Value) -> bool | None:
    return bool(value.value) if isinstance(value, Const) else None


def handed_back(m: Machine, state: State, call: Call) -> Value:
    """One argument as it is, several as a tuple."""
    given = [*call.args[1:], *(value for name, value in call.kwargs.items() if name in ("model", "module"))]
    return given[0] if len(given) == 1 else Tuple(tuple(given))


for _name, _methods in LAUNCHERS.items():
    FUNCTIONS[_name] = launcher
    FUNCTIONS[f"{_name}.backward"] = walk
    for _method in _methods:
        FUNCTIONS[f"{_name}.{_method}"] = handed_back


@method(MODULE_METHODS, MANUAL[1])
def manual_backward(m: Machine, state: State, receiver: Value, call: Call) -> Value:
    if not is_framework_object(state, receiver, MANUAL[0]):
        return unknown_call(m, state, call.args, call.kwargs, call.node, Method(receiver, call.name))
    return walk(m, state, Call(call.name, [receiver, *call.args], call.kwargs, call.node, call.key))
