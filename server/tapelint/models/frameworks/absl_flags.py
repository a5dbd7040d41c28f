"""``absl``: flags that any module of the program defines, and the one object that holds them all.

flags.DEFINE_bool("amp", False, "...")         in one module
FLAGS = flags.FLAGS                            in another one
if FLAGS.amp: ...                              False if `--amp` is not given

A module keeps the flags that it has defined beside its variables; what is read of ``FLAGS`` is looked for in all
modules that the path has met.
"""

from __future__ import annotations

from ...domain import facets
from ...domain.state import State
from ...domain.values import NONE, Const, External, Frame, HeapRef, Instance, Mapping, Unknown, Value, something
from ...engine.machine import Machine
from ..python.option_values import given, given_in, left_out, switch
from ..torch.registry import ATTRIBUTES, OPEN_OBJECTS, Call, OpenObject, function

FLAGS = "absl.flags.FLAGS"
HOLDER = External("absl.flags.FlagHolder")
SWITCHES = ("bool", "boolean")
PLAIN = ("integer", "float", "string", "enum")
OTHERS = ("list", "spaceseplist", "enum_class", "multi_string", "multi_integer", "multi_float", "multi_enum")


@function(*(f"absl.flags.DEFINE_{kind}" for kind in (*SWITCHES, *PLAIN, *OTHERS)))
def define(machine: Machine, state: State, call: Call) -> Value:
    """The holder of a flag."""
    name, default = call.get(0, "name"), call.get(1, "default")
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return Unknown("flag", False)
    value = _value(call.name.rpartition("DEFINE_")[2], name.value, default)
    state.edit(_defined_here(state).id, Mapping).items[name.value] = value
    return HeapRef(state.new(Instance(HOLDER, {"name": name, "default": default}, True)))


def value_of_holder(machine: Machine, state: State, holder: Value) -> Value:
    """``holder.value`` is what ``FLAGS`` has under its name."""
    thing = state.heap[holder.id] if isinstance(holder, HeapRef) else None
    name = thing.attributes["name"] if isinstance(thing, Instance) else NONE
    found = read(machine, state, name.value) if isinstance(name, Const) and isinstance(name.value, str) else None
    return found if found is not None else Unknown("flag", False)


ATTRIBUTES[f"{HOLDER.name}.value"] = value_of_holder


def _value(kind: str, name: str, default: Value) -> Value:
    """What a flag is where the command line does not say."""
    if kind in SWITCHES and isinstance(default, Const) and isinstance(default.value, bool):
        return switch(default.value, f"--no{name}" if default.value else f"--{name}", name)
    return left_out(default, f"--{name}", name) if kind in PLAIN else something(name, False)


def _defined_here(state: State) -> HeapRef:
    """The flags of the running module, by their names."""
    module = state.get(state.frame, Frame).module
    known = state.get(module, Frame).variables.get(facets.FLAGS)
    if isinstance(known, HeapRef):
        return known
    made = HeapRef(state.new(Mapping({})))
    state.edit(module, Frame).variables[facets.FLAGS] = made
    return made


def _holding(state: State, name: str) -> HeapRef | None:
    """The flags among which one of that name is."""
    here = state.get(state.frame, Frame).module
    for key in (here, *(key for key, thing in state.heap.items() if isinstance(thing, Frame) and thing.module == key)):
        held = state.get(key, Frame).variables.get(facets.FLAGS)
        if isinstance(held, HeapRef) and name in state.get(held.id, Mapping).items:
            return held
    return None


def read(machine: Machine, state: State, name: str) -> Value | None:
    """``FLAGS.name``; None where no such flag was seen to be defined."""
    held = _holding(state, name)
    return state.get(held.id, Mapping).items[name] if held is not None else None


def write(machine: Machine, state: State, name: str, value: Value) -> None:
    """``FLAGS.name = value``."""
    held = _holding(state, name)
    if held is not None:
        state.edit(held.id, Mapping).items[name] = value


def _kind_of(default: Value) -> str:
    """The kind of a flag, as far as its default shows it."""
    return "bool" if isinstance(default, Const) and isinstance(default.value, bool) else "string"


OPEN_OBJECTS[FLAGS] = OpenObject(read, write)


@function(FLAGS)
def parse(machine: Machine, state: State, call: Call) -> Value:
    """Reads the words of a command line; those that the program gives itself have no default any more."""
    for name in sorted(given_in(machine, state, call.get(0, "argv"), call.node)):
        if (value := read(machine, state, name)) is not None:
            write(machine, state, name, given((name,), {name: value})[name])
    return Unknown("words", False)


@function(f"{FLAGS}.set_default")
def set_default(machine: Machine, state: State, call: Call) -> Value:
    name = call.get(0, "name")
    if isinstance(name, Const) and isinstance(name.value, str):
        write(machine, state, name.value, _value(_kind_of(call.get(1, "value")), name.value, call.get(1, "value")))
    return NONE


@function("absl.flags.mark_flag_as_required", "absl.flags.mark_flags_as_required")
def require(machine: Machine, state: State, call: Call) -> Value:
    """A flag that must be given has no default."""
    names = [call.args[0]] if call.args else [*call.kwargs.values()]
    if call.name.endswith("flags_as_required") and names:
        names = [*machine.iterate(state, names[0], call.node).values]
    for name in names:
        if isinstance(name, Const) and isinstance(name.value, str):
            write(machine, state, name.value, something(name.value, False))
    return NONE
