"""Configuration files of the project that a program reads: YAML, JSON, TOML.

with open("config.yaml") as file:
    cfg = yaml.safe_load(file)         the dictionary that the file holds
cfg = OmegaConf.load("conf/a.yaml")    its items are attributes, too

Each number, text and switch is an option whose default is what the file says: to change it is what the file is for.
"""

from __future__ import annotations

import math

from ....domain.options import Option, optional
from ....domain.project_path import ProjectPath, located
from ....domain.state import State
from ....domain.values import Const, HeapRef, Mapping, Sequence, Unknown, Value, something
from ....engine.machine import Machine
from ....frozen import frozen
from ....source.config_text import SUFFIXES, Data, Scalar, Tagged, Unread, read_config
from ...torch.registry import Call, function
from ..paths import OpenFile
from .interpolations import interpolated, interpolation

READERS = (
    *("yaml.load", "yaml.safe_load", "yaml.full_load", "yaml.unsafe_load"),
    *("json.load", "json.loads", "tomllib.load", "tomllib.loads", "tomli.load", "toml.load"),
)


@function("builtins.open", "io.open", "codecs.open")
def opened(machine: Machine, state: State, call: Call) -> Value:
    path = _path(machine, call.get(0, "file"))
    return Unknown("builtin", False, formula=None if path is None else OpenFile(path))


def _path(machine: Machine, value: Value) -> ProjectPath | None:
    """The path that a value is, if a configuration of the project may be there."""
    imports = machine.imports
    path = None if imports is None else located(value, lambda: imports.main.path)
    return path if path is not None and path.name.endswith(SUFFIXES) else None


@function(*READERS)
def loaded(machine: Machine, state: State, call: Call) -> Value:
    """What is read from a file that is open, or from its text; ``toml.load`` opens it itself."""
    given = call.args[0] if call.args else Unknown("file", False)
    file = given.formula if isinstance(given, Unknown) else None
    path = file.path if isinstance(file, OpenFile) else _path(machine, given) if call.name == "toml.load" else None
    found = content(machine, path) if path is not None else None
    return something("file", False) if found is None else value_of(state, found, "dict")


@function("omegaconf.OmegaConf.load")
def loaded_by_path(machine: Machine, state: State, call: Call) -> Value:
    path = _path(machine, call.get(0, "file_"))
    found = content(machine, path) if path is not None else None
    return something("file", False) if found is None else interpolated(state, value_of(state, found, "config"))


@frozen
class Content:
    """What a file of the project holds."""

    data: Data
    # What the file is called in messages.
    name: str


def content(machine: Machine, path: ProjectPath) -> Content | None:
    """What a file holds; None where the project has no such file, or it is no configuration."""
    found = machine.imports.find(path.name, path.importer) if machine.imports is not None else None
    if found is None:
        return None
    data = read_config(found[1], found[0])
    return None if isinstance(data, Unread) else Content(data, path.name.partition(":")[2])


def value_of(state: State, whole: Content, kind: str) -> Value:
    """A dictionary, or an object whose items are attributes (``config``), of what a file holds."""
    return _converted(state, whole.data, kind, "", whole.name)


def _converted(state: State, data: Data, kind: str, name: str, file: str) -> Value:
    match data:
        case dict():
            prefix = f"{name}." if name else ""
            items = {key: _converted(state, item, kind, prefix + key, file) for key, item in data.items()}
            return HeapRef(state.new(Mapping(items, kind="config" if kind == "config" else "dict")))
        case list():
            return HeapRef(state.new(Sequence("list", [_converted(state, each, kind, name, file) for each in data])))
        case Tagged() | Unread():
            return something(name, False)
    if kind == "config" and isinstance(data, str):
        if data == "???" or "${" in data:
            return something(name, False) if data == "???" else interpolation(data)
        data = _number(data)
    return option_of(data, name, file)


def option_of(value: Scalar, name: str, file: str) -> Value:
    """A number, a text or a switch that a file sets."""
    if isinstance(value, bool):
        return optional(Option(Const(value), f"`{name}` is {not value} in `{file}`", (Const(not value),), False), name)
    premise = f"`{name}` is set in `{file}`" if value is None else f"`{name}` is not `{value!r}` in `{file}`"
    return optional(Option(Const(value), premise, is_combined=False), name)


def _number(text: str) -> str | float:
    """OmegaConf reads ``1e-3`` as the number that it is."""
    try:
        number = float(text) if text[:1] in "+-.0123456789" and text else math.nan
    except ValueError:
        return text
    return number if math.isfinite(number) else text
