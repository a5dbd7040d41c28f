"""``typer``: functions whose parameters say by default and annotation which options they are.

app = typer.Typer()

@app.command()
def main(lr: float = 0.1, amp: bool = typer.Option(False, "--amp/--full")): ...

app()                            calls main, if that is its only command
"""

from __future__ import annotations

import ast

from ...domain import facets
from ...domain.parameter_defaults import defaults_of, with_defaults
from ...domain.state import State
from ...domain.values import NONE, Const, External, Function, HeapRef, Instance, Partial, Tuple, Value, something
from ...engine.machine import Machine
from ..torch.registry import Call, decorator, function
from .option_values import left_out, switch

APP = "typer.Typer"
DECLARED = ("typer.Option()", "typer.Argument()")
"""What declares a parameter, as a default or in its annotation."""


@function(APP)
def application(machine: Machine, state: State, call: Call) -> Value:
    return HeapRef(state.new(Instance(External(APP), {facets.COMMANDS: Tuple(())}, True)))


@function("typer.Option", "typer.Argument")
def declaration(machine: Machine, state: State, call: Call) -> Value:
    return Partial(External(f"{call.name}()"), tuple(call.args), tuple(call.kwargs.items()))


@decorator(f"{APP}.command", f"{APP}.callback")
def command(machine: Machine, state: State, call: Call) -> Value:
    """The function itself, with its options for defaults."""
    target, app = call.args[0], call.args[1]
    if not isinstance(target, Function) or not isinstance(app, HeapRef) or not isinstance(state.heap[app.id], Instance):
        return target
    target = _with_options(machine, state, target)
    known = state.edit(app.id, Instance).attributes
    before = known.get(facets.COMMANDS, NONE)
    known[facets.COMMANDS] = Tuple((*before.items, target)) if isinstance(before, Tuple) else NONE
    return target


@function(f"{APP}.__call__")
def run(machine: Machine, state: State, call: Call) -> Value:
    """Which of several commands is meant stands on the command line."""
    app = call.args[0]
    thing = state.heap[app.id] if isinstance(app, HeapRef) else None
    commands = thing.attributes.get(facets.COMMANDS) if isinstance(thing, Instance) else None
    if not isinstance(commands, Tuple) or len(commands.items) != 1 or call.args[1:] or call.kwargs:
        return machine.call_unknown(state, call.args[1:], call.kwargs, call.node, External(APP))
    return machine.call(state, commands.items[0], [], {}, call.node, call.key)


@function("typer.run")
def run_function(machine: Machine, state: State, call: Call) -> Value:
    target = call.get(0, "function")
    if not isinstance(target, Function):
        return machine.call_unknown(state, call.args, call.kwargs, call.node, External(call.name))
    return machine.call(state, _with_options(machine, state, target), [], {}, call.node, call.key)


def _with_options(machine: Machine, state: State, target: Function) -> Function:
    spec, defaults = target.node.args, defaults_of(target)
    parameters = (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)
    return with_defaults(
        target, {each.arg: _value(machine, state, each, defaults.get(each.arg)) for each in parameters}
    )


def _value(machine: Machine, state: State, parameter: ast.arg, default: Value | None) -> Value:
    """What a parameter is where the command line does not say."""
    name, declared = parameter.arg, _annotated(machine, state, parameter.annotation)
    words = declared.args if declared is not None else ()
    if (stated := _declaration(default)) is not None:
        declared, words = stated, stated.args[1:]
        default = stated.args[0] if stated.args else dict(stated.kwargs).get("default")
    if default is None or default == Const(...):
        return something(name, False)
    if declared is not None and declared.function == External(DECLARED[1]):
        return left_out(default, name, name)
    flags = [str(word.value) for word in words if isinstance(word, Const) and str(word.value).startswith("--")]
    return _option(default, name, flags[0] if flags else None)


def _option(default: Value, name: str, declared: str | None) -> Value:
    """The option ``--lr``, or ``--amp/--full``; one that is true or false has both flags where none is declared."""
    flag = "--" + name.replace("_", "-")
    on, _, off = (declared or f"{flag}/--no-{flag[2:]}").partition("/")
    if isinstance(default, Const) and isinstance(default.value, bool):
        return switch(default.value, off if default.value and off else on, name)
    return left_out(default, on, name)


def _declaration(value: Value | None) -> Partial | None:
    """What ``typer.Option(...)`` has returned; None for any other value."""
    is_one = isinstance(value, Partial) and isinstance(value.function, External) and value.function.name in DECLARED
    return value if is_one and isinstance(value, Partial) else None


def _annotated(machine: Machine, state: State, annotation: ast.expr | None) -> Partial | None:
    """The declaration in ``Annotated[float, typer.Option("--rate")]``."""
    if not isinstance(annotation, ast.Subscript) or not isinstance(annotation.slice, ast.Tuple):
        return None
    calls = [each for each in annotation.slice.elts[1:] if isinstance(each, ast.Call)]
    return next((found for each in calls if (found := _declaration(machine.eval(each, state)))), None)
