"""Dataclasses whose fields are options: tyro, ``HfArgumentParser``, simple-parsing, pyrallis, ``Tap``.

@dataclass
class Args:
    amp: bool = False
    optim: Optim = field(default_factory=Optim)      its fields are options, too: --optim.lr

args = tyro.cli(Args)            args.amp is False if `--amp` is not given
"""

from __future__ import annotations

import ast
from dataclasses import replace

from ...domain import facets
from ...domain.dataclass_fields import fields
from ...domain.mro import lookup_in_mro, mro_of
from ...domain.parameter_defaults import defaults_of, with_defaults
from ...domain.state import State
from ...domain.values import (
    NONE,
    Class,
    External,
    Factory,
    Function,
    HeapRef,
    Instance,
    Mapping,
    Sequence,
    Tuple,
    Unknown,
    Value,
    something,
)
from ...engine.machine import Machine
from ...frozen import frozen
from ..torch.registry import Call, decorator, function
from .option_parsers import PARSER, declared_by
from .option_values import given, given_in, of_default, of_parameters


@frozen
class Written:
    """How options are written on the command line."""

    # What stands between the words of a name.
    joint: str = "_"
    # The options that are given.
    words: frozenset[str] = frozenset()
    # What the names of an object begin with that is a field of another one.
    prefix: str = ""


MAX_NESTING = 4
"""How deep dataclasses are fields of others."""
HF_PARSER = "transformers.HfArgumentParser"


@function("tyro.cli", "jsonargparse.CLI", "jsonargparse.auto_cli")
def called_or_made(machine: Machine, state: State, call: Call) -> Value:
    """What a function returns that is called with its options, or an object of a class."""
    target = call.get(0, "f")
    if call.kwargs.get("default", NONE) != NONE:
        return machine.call_unknown(state, call.args, call.kwargs, call.node, External(call.name))
    if isinstance(target, Function):
        return machine.call(state, of_parameters(target), [], {}, call.node, call.key)
    words = given_in(machine, state, call.kwargs.get("args", NONE), call.node)
    return _made(machine, state, target, call.node, Written("-", frozenset(words)))


@function(
    "simple_parsing.parse", "pyrallis.parse", "draccus.parse", "pyrallis.argparsing.parse", "draccus.argparsing.parse"
)
def parsed(machine: Machine, state: State, call: Call) -> Value:
    return _made(machine, state, call.get(0, "config_class"), call.node, Written())


@decorator("pyrallis.wrap", "draccus.wrap")
def wrapped(machine: Machine, state: State, call: Call) -> Value:
    """A function whose first parameter is an object of the class that its annotation names."""
    target = call.args[0]
    names = [*target.node.args.posonlyargs, *target.node.args.args] if isinstance(target, Function) else []
    if not isinstance(target, Function) or not names or names[0].annotation is None:
        return target
    made = _made(machine, state, machine.eval(names[0].annotation, state), names[0].annotation, Written())
    return with_defaults(target, {names[0].arg: made})


@function(HF_PARSER, "transformers.hf_argparser.HfArgumentParser", "trl.TrlParser")
def several(machine: Machine, state: State, call: Call) -> Value:
    """A parser of one dataclass or of several."""
    given = call.get(0, "dataclass_types")
    kinds = machine.iterate(state, given, call.node).values if _holds_several(state, given) else [given]
    return HeapRef(state.new(Instance(External(HF_PARSER), {facets.OPTIONS: Tuple(tuple(kinds))}, True)))


def _holds_several(state: State, value: Value) -> bool:
    return isinstance(value, Tuple) or isinstance(value, HeapRef) and isinstance(state.heap[value.id], Sequence)


@function(f"{HF_PARSER}.parse_args_into_dataclasses", f"{HF_PARSER}.parse_args_and_config")
def each_parsed(machine: Machine, state: State, call: Call) -> Value:
    """An object of each class; the words that are left over come last, if they are asked for."""
    receiver = call.args[0]
    thing = state.heap[receiver.id] if isinstance(receiver, HeapRef) else None
    kinds = thing.attributes.get(facets.OPTIONS) if isinstance(thing, Instance) else None
    made = (
        [_made(machine, state, kind, call.node, Written()) for kind in kinds.items] if isinstance(kinds, Tuple) else []
    )
    rest = [] if call.flag(9, "return_remaining_strings") is False else [Unknown("rest", False)]
    is_alone = call.name == "parse_args_and_config" and len(made) == 1 and not rest
    return made[0] if is_alone else Tuple((*made, *rest))


@function(f"{PARSER}.add_arguments")
def add_arguments(machine: Machine, state: State, call: Call) -> Value:
    """The fields of a dataclass as options of a parser, which gives them as one object."""
    declared, dest = declared_by(state, call), call.get(2, "dest")
    if declared is not None and isinstance(name := getattr(dest, "value", None), str):
        state.edit(declared.id, Mapping).items[name] = _made(
            machine, state, call.get(1, "dataclass"), call.node, Written(prefix=f"{name}.")
        )
    return NONE


@function("tap.Tap.parse_args", "tap.tap.Tap.parse_args")
def tapped(machine: Machine, state: State, call: Call) -> Value:
    """An object of a class derived from ``Tap``, whose annotated attributes are options."""
    receiver = call.args[0]
    if isinstance(receiver, HeapRef) and isinstance(thing := state.heap[receiver.id], Instance):
        found = _fields(state, thing.kind)
        state.edit_attributes(receiver.id).update({name: of_default(value, name, "_") for name, value in found.items()})
    return receiver


def _made(
    machine: Machine, state: State, kind: Value, node: ast.AST, written: Written, depth: int = MAX_NESTING
) -> Value:
    """An object of a class, with options for what has a default."""
    if not isinstance(kind, HeapRef) or not isinstance(thing := state.heap[kind.id], Class):
        return something("options")
    found = _fields(state, kind) if thing.dataclass else _arguments(state, kind)
    options = dict[str, Value]()
    for name, default in found.items():
        if not isinstance(default, Factory):
            options[name] = of_default(default, written.prefix + name, written.joint)
        elif depth and isinstance(default.function, HeapRef):
            inner = replace(written, prefix=f"{written.prefix}{name}.")
            options[name] = _made(machine, state, default.function, node, inner, depth - 1)
    return machine.call(state, kind, [], options | given(written.words, options), node)


def _fields(state: State, kind: Value) -> dict[str, Value]:
    """The fields of a dataclass that have a default."""
    found = fields(state, mro_of(state, kind))
    return {name: default for name, (default, _, _) in found.items() if default is not None}


def _arguments(state: State, kind: Value) -> dict[str, Value]:
    """The arguments of a class that have a default."""
    made = lookup_in_mro(state, kind, "__init__")
    return defaults_of(made[1]) if made is not None and isinstance(made[1], Function) else {}
