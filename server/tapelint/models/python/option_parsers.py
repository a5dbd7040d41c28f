"""What an option is where it is left out, and what declares options.

    parser = argparse.ArgumentParser()
    parser.add_argument("--amp", action="store_true")
    parser.add_argument("--layers", type=int, default=2)
    args = parser.parse_args()        # args.amp is False if `--amp` is not given, args.layers is 2

A function that a library calls with a command line (fire, typer) is one without a caller:
its parameters are options all the same.
What a group or a subparser of ``argparse`` declares is declared by its parser.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from ...domain import facets
from ...domain.options import Option, is_hashable, left_at, optional
from ...domain.state import State
from ...domain.values import (
    FALSE,
    NONE,
    TRUE,
    Const,
    External,
    Function,
    HeapRef,
    Instance,
    Mapping,
    Tuple,
    Unknown,
    Value,
    something,
)
from ...engine.machine import Machine
from ..torch.registry import Call, answers, function

CONVERTERS = {"builtins.bool": bool, "builtins.int": int, "builtins.float": float, "builtins.str": str}
"""What a ``type`` makes of a default that is text."""


def left_out(default: Value, flag: str, name: str, convert: Value | None = None) -> Value:
    """The value of an option that is called ``name`` and given as ``flag``."""
    if not isinstance(default, Const) or not is_hashable(default):
        return default if isinstance(default, (HeapRef, Tuple)) else something(name, False)  # it may be iterated
    known = _converted(default, convert)
    return something(name, False) if known is None else optional(left_at(flag, known), name)


def switch(default: bool, flag: str, name: str) -> Value:
    """The value of an option that is turned round by ``flag``."""
    return optional(Option(Const(default), f"`{flag}` is given", (Const(not default),)), name)


def _converted(default: Const, convert: Value | None) -> Const | None:
    """The default as ``type=`` reads it where it is a text; None where that raises."""
    if isinstance(convert, External) and isinstance(default.value, str) and convert.name in CONVERTERS:
        try:
            return Const(CONVERTERS[convert.name](default.value))
        except ValueError:
            return None
    return default


def given_in(machine: Machine, state: State, words: Value, node: ast.AST) -> set[str]:
    """The names of the options that a list of words in the program gives: they have no default any more."""
    if words == NONE:
        return set()
    found = [str(word.value) for word in machine.iterate(state, words, node).values if isinstance(word, Const)]
    names = {word.partition("=")[0].lstrip("-").replace("-", "_") for word in found if word.startswith("-")}
    return names | {name.removeprefix("no_") for name in names}


def given(names: Collection[str], options: dict[str, Value]) -> dict[str, Value]:
    """Those of the options that have these names, as they are where they are given: a switch is turned round."""
    return {name: _turned(value, name) for name, value in options.items() if name in names}


def _turned(value: Value, name: str) -> Value:
    option = value.formula if isinstance(value, Unknown) else None
    others = option.others if isinstance(option, Option) else None
    return others[0] if others is not None and len(others) == 1 else something(name, False)


PARSER = "argparse.ArgumentParser"
NAMESPACE = External("argparse.Namespace")
BOOLEAN = External("argparse.BooleanOptionalAction")
SWITCHES = {"store_true": FALSE, "store_false": TRUE, "count": NONE}
"""Actions that take no value, and the default of each."""


@function(
    PARSER,
    "configargparse.ArgumentParser",
    "configargparse.ArgParser",
    "jsonargparse.ArgumentParser",
    "simple_parsing.ArgumentParser",
)
def parser(machine: Machine, state: State, call: Call) -> Value:
    made = HeapRef(state.new(Instance(External(PARSER), {})))
    declared = _declared(state, made)
    parents = call.kwargs.get("parents")
    found = machine.iterate(state, parents, call.node) if parents is not None else None
    for parent in found.values if found is not None else ():
        if isinstance(parent, HeapRef) and isinstance(state.heap[parent.id], Instance):
            state.edit(declared.id, Mapping).items.update(state.get(_declared(state, parent).id, Mapping).items)
    return made


def _declared(state: State, receiver: HeapRef) -> HeapRef:
    """The values of a parser's options, by their names."""
    known = state.get(receiver.id, Instance).attributes.get(facets.OPTIONS)
    if isinstance(known, HeapRef):
        return known
    made = HeapRef(state.new(Mapping({})))
    state.edit(receiver.id, Instance).attributes[facets.OPTIONS] = made
    return made


answers(lambda: NONE, f"{PARSER}.__init__")  # of a class that the program derives from it


@function(
    f"{PARSER}.add_argument_group",
    f"{PARSER}.add_mutually_exclusive_group",
    f"{PARSER}.add_subparsers",
    f"{PARSER}.add_parser",
)
def part(machine: Machine, state: State, call: Call) -> Value:
    chosen = call.kwargs.get("dest") if call.name == "add_subparsers" else None
    if isinstance(chosen, Const) and (declared := declared_by(state, call)) is not None:
        state.edit(declared.id, Mapping).items[chosen.value] = something(str(chosen.value), False)
    return call.args[0]


def declared_by(state: State, call: Call) -> HeapRef | None:
    """What is declared by the parser of which a method is called."""
    receiver = call.args[0] if call.args else None
    if not isinstance(receiver, HeapRef) or not isinstance(state.heap[receiver.id], Instance):
        return None
    return _declared(state, receiver)


@function(f"{PARSER}.add_argument", f"{PARSER}.add")
def add_argument(machine: Machine, state: State, call: Call) -> Value:
    declared = declared_by(state, call)
    names = [name.value for name in call.args[1:] if isinstance(name, Const) and isinstance(name.value, str)]
    if declared is None or not names:
        return Unknown("action", False)
    flag = next((name for name in names if name.startswith("--")), names[0])
    named = call.kwargs.get("dest")
    dest = named.value if isinstance(named, Const) else flag.lstrip("-").replace("-", "_")
    state.edit(declared.id, Mapping).items[dest] = _value(machine, state, call, flag, dest)
    return Unknown("action", False)


def _value(machine: Machine, state: State, call: Call, flag: str, dest: str) -> Value:
    """What an option is where the command line does not say."""
    action = call.kwargs.get("action")
    kind = str(action.value) if isinstance(action, Const) else ""
    if not flag.startswith("-") or call.kwargs.get("required") == TRUE:
        return something(dest, False)
    default = call.kwargs.get("default", SWITCHES.get(kind, NONE))
    if (kind, default) in (("store_true", TRUE), ("store_false", FALSE)):
        return default  # given or not
    is_switch = kind in ("store_true", "store_false") or action == BOOLEAN
    if is_switch and isinstance(default, Const) and isinstance(default.value, bool):
        return switch(default.value, f"--no-{flag.lstrip('-')}" if action == BOOLEAN and default.value else flag, dest)
    if (kind in SWITCHES or is_switch) and isinstance(default, Const):
        return optional(Option(default, f"`{flag}` is given"), dest)
    return left_out(_read(machine, state, call, default), flag, dest, call.kwargs.get("type"))


def _read(machine: Machine, state: State, call: Call, default: Value) -> Value:
    """A default that is text, as a ``type=`` that the program defines reads it."""
    read = call.kwargs.get("type", NONE)
    if not isinstance(default, Const) or not isinstance(default.value, str) or read == NONE:
        return default
    if isinstance(read, External) and read.name in CONVERTERS:
        return default
    return (
        machine.call(state, read, [default], {}, call.node) if isinstance(read, Function) else Unknown("option", False)
    )


@function(f"{PARSER}.set_defaults")
def set_defaults(machine: Machine, state: State, call: Call) -> Value:
    declared = declared_by(state, call)
    if declared is not None:
        known = state.edit(declared.id, Mapping).items
        for name, value in call.kwargs.items():
            if isinstance(value, Const) and is_hashable(value):
                value = optional(left_at(f"--{name}", value), name)
            known[name] = value
    return NONE


@function(f"{PARSER}.parse_args", f"{PARSER}.parse_known_args", f"{PARSER}.parse_intermixed_args")
def parse(machine: Machine, state: State, call: Call) -> Value:
    declared = declared_by(state, call)
    if declared is None:
        return machine.call_unknown(state, call.args, call.kwargs, call.node, External(call.name))
    into = call.get(2, "namespace")
    if isinstance(into, HeapRef) and isinstance(state.heap[into.id], Instance):
        result = into
    else:
        result = HeapRef(state.new(Instance(NAMESPACE, {}, True)))
    found = {str(name): value for name, value in state.get(declared.id, Mapping).items.items()}
    words = given_in(machine, state, call.get(1, "args"), call.node)
    state.edit_attributes(result.id).update(found | given(words, found))
    return Tuple((result, Unknown("rest", False))) if call.name.endswith("parse_known_args") else result


@function("argparse.Namespace", "types.SimpleNamespace")
def namespace(machine: Machine, state: State, call: Call) -> Value:
    """An object with the attributes that it is given."""
    is_spread = isinstance(call.node, ast.Call) and any(keyword.arg is None for keyword in call.node.keywords)
    return HeapRef(state.new(Instance(NAMESPACE, dict(call.kwargs), is_spread)))
