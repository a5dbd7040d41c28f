"""``hydra``: a function whose configuration is composed of files, and objects that the configuration names.

@hydra.main(config_path="conf", config_name="config")
def main(cfg): ...                       cfg holds conf/config.yaml, and conf/model/unet.yaml as cfg.model

net = hydra.utils.instantiate(cfg.model)     an object of the class that `_target_` names
"""

from __future__ import annotations

import posixpath

from ....domain.options import settled
from ....domain.parameter_defaults import with_defaults
from ....domain.project_path import ProjectPath
from ....domain.state import State
from ....domain.values import (
    NONE,
    TRUE,
    Const,
    External,
    Function,
    HeapRef,
    Mapping,
    Partial,
    Unknown,
    Value,
    something,
)
from ....engine.machine import Machine
from ....frozen import frozen
from ....source.config_text import Data
from ....stubs import BESIDE
from ...torch.registry import Call, decorator, function
from ..dotted_names import named
from .config_files import Content, content, value_of
from .interpolations import interpolated

MAX_DEPTH = 3
"""How deep files that are composed name others."""
TARGET = "_target_"


@decorator("hydra.main")
def configured(machine: Machine, state: State, call: Call) -> Value:
    """The function, whose parameter is the configuration as it is composed without words on the command line."""
    target = call.args[0]
    folder, name = (call.kwargs.get(key, NONE) for key in ("config_path", "config_name"))
    parameters = [*target.node.args.posonlyargs, *target.node.args.args] if isinstance(target, Function) else []
    if not isinstance(target, Function) or not parameters or machine.imports is None:
        return target
    place = _folder(folder, machine.imports.here(state).path)
    if not isinstance(name, Const) or not isinstance(name.value, str) or place is None:
        return target
    composition = Composition(machine, state, place)
    found = composition.composed(".", name.value.removesuffix(".yaml"), MAX_DEPTH)
    return target if found is None else with_defaults(target, {parameters[0].arg: interpolated(state, found)})


def _folder(value: Value, own: str) -> ProjectPath | None:
    """The folder of the configuration: relative to the file with the function, unless the program says otherwise."""
    if isinstance(value, Unknown) and isinstance(value.formula, ProjectPath):
        return value.formula
    if not isinstance(value, Const) or isinstance(value.value, str) and ":" in value.value:
        return None
    return ProjectPath(f"{BESIDE}.", own) / str(value.value or ".")


@frozen
class Composition:
    """Puts the files together that a configuration consists of."""

    machine: Machine
    state: State
    # The folder that paths are relative to.
    place: ProjectPath

    def composed(self, folder: str, name: str, depth: int) -> HeapRef | None:
        """What a file says together with the files of its list of defaults; None if there is no such file."""
        own = self._read(folder, name)
        if own is None or not isinstance(own.data, dict):
            return None
        listed = own.data.get("defaults")
        said = {key: item for key, item in own.data.items() if key != "defaults" and key != "hydra"}
        itself = value_of(self.state, Content(said, own.name), "config")
        assert isinstance(itself, HeapRef)
        if not isinstance(listed, list):
            return itself
        whole = HeapRef(self.state.new(Mapping({}, kind="config")))
        is_ordered = "_self_" in listed
        for entry in listed:
            if entry == "_self_":
                self._merge(whole, itself, is_ordered)
            elif not self._add(whole, folder, entry, depth - 1, is_ordered):
                self.state.edit(whole.id, Mapping).is_partial = True
        if not is_ordered:
            self._merge(whole, itself, is_ordered)
        return whole

    def _read(self, folder: str, name: str) -> Content | None:
        return content(self.machine, self.place / posixpath.join(folder, f"{name}.yaml"))

    def _add(self, whole: HeapRef, folder: str, entry: Data, depth: int, is_ordered: bool) -> bool:
        """Put in what one entry of a list of defaults names; False if that is not known."""
        if not depth:
            return False
        if isinstance(entry, str):
            base = self.composed(folder, entry.removesuffix(".yaml"), depth)
            if base is not None:
                self._merge(whole, base, is_ordered)
            return base is not None
        if not isinstance(entry, dict) or len(entry) != 1:
            return False
        (group, name), *_ = entry.items()
        group = group.removeprefix("optional ")
        if group.startswith(("override ", "hydra/")) or name is None:
            return True
        if not isinstance(name, str) or "@" in group:
            return False
        found = self.composed(posixpath.join(folder, group), name.removesuffix(".yaml"), depth)
        if found is None:
            return False
        for part in reversed(group.split("/")):
            found = HeapRef(self.state.new(Mapping({part: found}, kind="config")))
        self._merge(whole, found, is_ordered)
        return True

    def _merge(self, into: HeapRef, other: HeapRef, is_ordered: bool) -> None:
        """Later files win; where it is not said which is later, what both say is not known."""
        theirs, ours = self.state.get(other.id, Mapping), self.state.edit(into.id, Mapping)
        ours.is_partial |= theirs.is_partial
        for key, item in theirs.items.items():
            known = ours.items.get(key)
            inner, outer = _as_mapping(self.state, item), _as_mapping(self.state, known)
            if inner is not None and outer is not None:
                self._merge(outer, inner, is_ordered)
            else:
                ours.items[key] = item if known is None or is_ordered else something(str(key), False)


def _as_mapping(state: State, value: Value | None) -> HeapRef | None:
    return value if isinstance(value, HeapRef) and isinstance(state.heap[value.id], Mapping) else None


@function("hydra.utils.instantiate", "hydra.utils.call")
def instantiated(machine: Machine, state: State, call: Call) -> Value:
    """What the configuration names by ``_target_``, called with the rest of it and with what else is given."""
    config = call.get(0, "config")
    made = _built(machine, state, config, call, call.args[1:], {k: v for k, v in call.kwargs.items() if k != "config"})
    return machine.call_unknown(state, call.args, call.kwargs, call.node, External(call.name)) if made is None else made


def _built(
    machine: Machine, state: State, config: Value, call: Call, args: list[Value], kwargs: dict[str, Value]
) -> Value | None:
    """The object that a configuration describes; None where it names no class."""
    thing = state.heap[config.id] if isinstance(config, HeapRef) else None
    name = settled(thing.items.get(TARGET, NONE)) if isinstance(thing, Mapping) else NONE
    if not isinstance(thing, Mapping) or not isinstance(name, Const) or not isinstance(name.value, str):
        return None
    given = dict[str, Value]()
    for key, item in thing.items.items():
        if isinstance(key, str) and not key.startswith("_"):
            given[key] = _built(machine, state, item, call, [], {}) or item
    given |= kwargs
    target = named(machine, state, name.value, call.node)
    if settled(thing.items.get("_partial_", NONE)) == TRUE:
        return Partial(target, tuple(args), tuple(given.items()))
    return machine.call(state, target, [*args], given, call.node)
