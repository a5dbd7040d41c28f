"""``hyperpyyaml``: a YAML file whose tags make the objects of a program.

net: !new:nets.Net              an object of that class, made with what stands below it
    width: !ref <width>         the value of another key; an object is the same one wherever it is referred to
opt_class: !name:torch.optim.SGD
    lr: 0.1                     the class, with arguments to be given later
seed: !apply:torch.manual_seed [1]      what the function returns

The file is read as data, and what its tags name is called as if the program did. What a ``!PLACEHOLDER`` stands for,
what the program overrides and what an included file holds is not known.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import field

from ....domain.state import State
from ....domain.values import Const, HeapRef, Mapping, Partial, Sequence, Tuple, Unknown, Value, something
from ....engine.machine import Machine
from ....frozen import frozen
from ....source.config_text import Data, Scalar, Tagged, Unread
from ...torch.registry import Call, function
from ..dotted_names import named
from ..paths import OpenFile
from .config_files import content, option_of
from .references import substituted

REFERENCE = re.compile(r"<([^<>]*)>")
KEY = re.compile(r"[^\[\]]+")
TUPLE = re.compile(r"\(.*\)", re.DOTALL)
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)[eE][+-]?\d+")
ARITHMETIC = re.compile(r"[\d\s.+*/()%-]+")
MAX_ARITHMETIC = 60
"""Characters of a computation that is done."""


@function("hyperpyyaml.load_hyperpyyaml", "hyperpyyaml.core.load_hyperpyyaml")
def loaded(machine: Machine, state: State, call: Call) -> Value:
    stream = call.get(0, "yaml_stream")
    file = stream.formula if isinstance(stream, Unknown) else None
    found = content(machine, file.path) if isinstance(file, OpenFile) else None
    if found is None or not isinstance(found.data, dict):
        return something("file", False)
    other = call.get(1, "overrides")
    thing = state.heap[other.id] if isinstance(other, HeapRef) else None
    given = (
        {str(key): _overriding(key, item) for key, item in thing.items.items()} if isinstance(thing, Mapping) else {}
    )
    data = {key: item for key, item in found.data.items() if key not in given}
    document = Document(machine, state, call, data, found.name, {(key,): item for key, item in given.items()})
    items = given | {key: document.value_at((key,)) for key in data}
    return HeapRef(state.new(Mapping({key: item for key, item in items.items() if not key.startswith("__")})))


def _overriding(key: object, item: Value) -> Value:
    """What the program gives instead of what the file says; a dictionary may give a part, so nothing is known of it."""
    return something(str(key), False) if isinstance(item, HeapRef) else item


@frozen
class Document:
    """Makes the values of a file, each of them once."""

    machine: Machine
    state: State
    call: Call
    data: dict[str, Data]
    # What the file is called in messages.
    name: str
    # The values that were made, by the path of keys that leads to them.
    made: dict[tuple[str, ...], Value]
    # The paths whose values are being made.
    open: set[tuple[str, ...]] = field(default_factory=set)
    # Those with a tag, by the identity of what the file says: an alias is the same value.
    tagged: dict[int, Value] = field(default_factory=dict)

    def value_at(self, path: tuple[str, ...]) -> Value:
        """The value that a path of keys leads to; unknown where there is none, or where it leads to itself."""
        if path in self.made:
            return self.made[path]
        if path[:1] in self.made and path[0] not in self.data:
            return self._inside(self.made[path[:1]], path[1:])
        found: Data = self.data
        for depth, key in enumerate(path, 1):
            found = _part(found, key)
            if isinstance(found, Tagged) and found.tag == "!ref" and depth < len(path):
                return self._inside(self.value_at(path[:depth]), path[depth:])
        if path in self.open:
            return something(".".join(path), False)
        self.open.add(path)
        self.made[path] = self._value(found, path)
        return self.made[path]

    def _inside(self, value: Value, path: tuple[str, ...]) -> Value:
        """What is in a dictionary that was made."""
        for key in path:
            thing = self.state.heap[value.id] if isinstance(value, HeapRef) else None
            value = thing.items.get(key, something(key, False)) if isinstance(thing, Mapping) else something(key, False)
        return value

    def _value(self, data: Data, path: tuple[str, ...]) -> Value:
        name = ".".join(path)
        match data:
            case dict():
                return HeapRef(self.state.new(Mapping({key: self.value_at((*path, key)) for key in data})))
            case list():
                items = [self.value_at((*path, str(index))) for index in range(len(data))]
                return HeapRef(self.state.new(Sequence("list", items)))
            case Tagged(tag, value):
                if id(data) not in self.tagged:
                    self.tagged[id(data)] = self._tagged(tag, value, path)
                return self.tagged[id(data)]
            case Unread():
                return something(name, False)
            case str() if TUPLE.fullmatch(data):
                return _tuple(data)
            case str() if NUMBER.fullmatch(data):
                return option_of(float(data), name, self.name)  # `1e-3` is a text for PyYAML
        return option_of(data, name, self.name)

    def _tagged(self, tag: str, value: Data, path: tuple[str, ...]) -> Value:
        kind, _, target = tag.partition(":")
        match kind:
            case "!ref" | "!copy" if isinstance(value, str):
                return self._reference(value, is_copied=kind == "!copy")
            case "!new" | "!apply" | "!name" if target:
                return self._of_code(kind, named(self.machine, self.state, target, self.call.node), value, path)
            case "!tuple" if isinstance(value, str):
                return _tuple(value)
        return something(".".join(path), False)

    def _of_code(self, kind: str, target: Value, value: Data, path: tuple[str, ...]) -> Value:
        """What a class or a function is, or what it makes of the arguments below it."""
        args = [self.value_at((*path, str(index))) for index in range(len(value))] if isinstance(value, list) else []
        kwargs = {key: self.value_at((*path, key)) for key in value} if isinstance(value, dict) else {}
        if kind in ("!new", "!apply"):
            return self.machine.call(self.state, target, args, kwargs, self.call.node)
        return Partial(target, tuple(args), tuple(kwargs.items())) if args or kwargs else target

    def _reference(self, text: str, is_copied: bool) -> Value:
        """``<key>``, ``<key[inner]>``, or a text or a computation with some of these in it."""
        names = REFERENCE.findall(text)
        values = [self._referred(name) for name in names]
        if len(names) == 1 and text.strip() == f"<{names[0]}>":
            return values[0] if not is_copied or not isinstance(values[0], HeapRef) else something(names[0], False)
        whole = substituted(REFERENCE, text, values)
        return something(text, False) if whole is None else option_of(_computed(whole), text, self.name)

    def _referred(self, name: str) -> Value:
        """What a key leads to, or an attribute of that."""
        path, *attributes = name.split(".")
        value = self.value_at(tuple(KEY.findall(path)))
        for attribute in attributes:
            value = self.machine.load_attribute(self.state, value, attribute, self.call.node)
        return value


def _part(data: Data, key: str) -> Data:
    """What stands below a key, also in the arguments of a tag."""
    inner = data.value if isinstance(data, Tagged) else data
    if isinstance(inner, dict):
        return inner.get(key, Unread())
    if isinstance(inner, list) and key.isdigit() and int(key) < len(inner):
        return inner[int(key)]
    return Unread()


def _tuple(text: str) -> Value:
    try:
        found = ast.literal_eval(f"[{text.strip()[1:-1]}]")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return Unknown("tuple", False)
    is_plain = all(isinstance(each, (int, float, str)) for each in found)
    return Tuple(tuple(map(Const, found))) if is_plain else Unknown("tuple", False)


OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Mod: lambda left, right: left % right,
}


def _computed(text: str) -> Scalar:
    """The number that a text computes, or the text."""
    if len(text) > MAX_ARITHMETIC or not ARITHMETIC.fullmatch(text):
        return text
    try:
        return _number(ast.parse(text.strip(), mode="eval").body)
    except (ValueError, SyntaxError, ArithmeticError):
        return text


def _number(node: ast.expr) -> float:
    """Raises ValueError where it is no such computation."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_number(node.left), _number(node.right))
    raise ValueError
