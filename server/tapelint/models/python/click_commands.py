"""``click``: functions that are commands, whose parameters are options.

@click.command()
@click.option("--amp/--no-amp", default=True)
@click.option("--lr", type=float, default=0.1)
def main(amp, lr): ...         amp is True if `--no-amp` is not given, lr is 0.1

main()                         calls the function; of a group only itself, its commands have no caller
"""

from __future__ import annotations

from ...domain import facets
from ...domain.options import Option, optional
from ...domain.parameter_defaults import defaults_of, with_defaults
from ...domain.state import State
from ...domain.values import FALSE, NONE, TRUE, Const, External, Function, HeapRef, Instance, Value, something
from ...engine.machine import Machine
from ..torch.registry import Call, decorator, function
from .option_values import given, given_in, left_out, switch

LIBRARIES = ("click", "rich_click", "asyncclick", "cloup")
COMMAND = "click.Command"
"""What a decorated function is; a group is one, too."""


def _all_named(*names: str) -> list[str]:
    return [f"{library}.{name}" for library in LIBRARIES for name in names]


@decorator(*_all_named("command", "group"), f"{COMMAND}.command", f"{COMMAND}.group")
def command(machine: Machine, state: State, call: Call) -> Value:
    target = call.args[0]
    if not isinstance(target, Function):
        return target
    return HeapRef(state.new(Instance(External(COMMAND), {facets.CALLBACK: target, "callback": target}, True)))


@decorator(*_all_named("option", "argument"))
def declared(machine: Machine, state: State, call: Call) -> Value:
    """The function, whose parameter is what the option is where it is left out."""
    target, *words = call.args
    names = [word.value for word in words if isinstance(word, Const) and isinstance(word.value, str)]
    if not isinstance(target, Function) or not names or call.kwargs.get("expose_value") == FALSE:
        return target
    name = _parameter(names)
    is_option = any(each.startswith("-") for each in names)
    return with_defaults(target, {name: _value(call, names, name) if is_option else something(name, False)})


def _parameter(names: list[str]) -> str:
    """The parameter that is given an option: the name without dashes, or else the first of the longest ones."""
    plain = next((name for name in names if name.isidentifier()), None)
    if plain is not None:
        return plain.lower()
    flags = [name.partition("/")[0].strip() for name in names]
    chosen = next((flag for flag in flags if flag.startswith("--")), flags[0])
    return chosen.lstrip("-").replace("-", "_").lower()


def _value(call: Call, names: list[str], name: str) -> Value:
    """What an option is where the command line does not say."""
    flag = next((each for each in names if each.startswith("--")), next(each for each in names if each[0] == "-"))
    on, slash, off = (part.strip() for part in flag.partition("/"))
    said = call.kwargs
    if any(said.get(word, NONE) not in (NONE, FALSE) for word in UNKNOWN):
        return something(name, False)
    default = said.get("default", NONE)
    if slash or said.get("is_flag") == TRUE:
        is_on = isinstance(default, Const) and bool(default.value)
        return switch(is_on, off if is_on and slash else on, name)
    if said.get("count") == TRUE and default == NONE:
        return optional(Option(Const(0), f"`{on}` is given"), name)
    return left_out(default, on, name, said.get("type"))


UNKNOWN = ("required", "prompt", "multiple", "callback", "flag_value")
"""Arguments of an option with which its default is not what the function is given."""


@function(f"{COMMAND}.__call__", f"{COMMAND}.main")
def run(machine: Machine, state: State, call: Call) -> Value:
    """A command that is run with the words of a command line, or with those that it is given."""
    callback = callback_of(state, call.args[0])
    if callback is None:
        return machine.call_unknown(state, call.args, call.kwargs, call.node, External(COMMAND))
    words = given_in(machine, state, call.get(1, "args"), call.node)
    return machine.call(state, callback, [], given(words, defaults_of(callback)), call.node, call.key)


def callback_of(state: State, value: Value) -> Function | None:
    """The function that a command runs; None for any other value."""
    thing = state.heap.get(value.id) if isinstance(value, HeapRef) else None
    found = thing.attributes.get(facets.CALLBACK) if isinstance(thing, Instance) else None
    return found if isinstance(found, Function) else None
