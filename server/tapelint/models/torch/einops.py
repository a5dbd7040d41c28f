"""einops: what a pattern does is at most a reshape, a permutation, a reduction, an expansion and another reshape.

rearrange(x, "b (h d) -> b h d", h=4)      a view of x: to take a dimension apart nothing needs to be moved
rearrange(x, "b h d -> b (h d)")           a view only where the elements are in order
rearrange(x, "b d -> b d")                 x itself, as with every pattern that changes nothing
reduce(x, "b c h w -> b c", "max")         amax, which saves x and its result
repeat(x, "b d -> b k d", k=3)             a view: the new dimension has stride 0
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from math import prod

from ...bounds import BOUNDS
from ...domain.opaque_values import as_data
from ...domain.state import State
from ...domain.values import (
    NONE,
    TRUE,
    Const,
    External,
    HeapRef,
    Instance,
    Origin,
    Partial,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    unknown_number,
)
from ...domain.values import Sequence as ListOfValues
from ...engine.machine import Machine
from ...frozen import frozen
from .dispatch import run, tensor_of
from .known_shape import Sizes, extent_of
from .registry import Call, function

Groups = list[list[str]]
"""The axes of each dimension on one side of a pattern."""

SIDE = re.compile(r"(?: |\.\.\.|\w|\((?: |\.\.\.|\w)*\))*")
PART = re.compile(r"\.\.\.|\w+|[()]")

AT_ONCE = {"min": "amin", "max": "amax", "sum": "sum", "mean": "mean"}
"""Reductions that are one op over all axes."""
ONE_BY_ONE = ("prod", "any", "all")
"""Reductions that are an op for each axis, the last one first."""


@frozen
class Pattern:
    """A pattern, for a tensor whose number of dimensions is known."""

    left: Groups
    right: Groups

    @property
    def source(self) -> list[str]:
        """The axes before the permutation."""
        return flat(self.left)

    @property
    def result(self) -> list[str]:
        """The axes after the expansion."""
        return flat(self.right)

    @property
    def kept(self) -> list[str]:
        """The axes after the reduction."""
        return [axis for axis in self.result if axis in self.source]

    @property
    def reduced(self) -> list[str]:
        return [axis for axis in self.source if axis not in self.result]


def flat(groups: Groups) -> list[str]:
    return [axis for group in groups for axis in group]


def read(sides: Sequence[str], sizes: Sizes | None) -> Pattern | None:
    """The pattern for a tensor of these sizes; None where it depends on how many there are, which is not known, and
    where einops raises.
    """
    beyond = 0
    if "..." in sides[0]:
        if sizes is None:
            return None
        beyond = len(sizes) + 1 - len(_groups(sides[0], "<", 1))
    pattern = Pattern(_groups(sides[0], "<", beyond), _groups(sides[1], ">", beyond))
    if beyond < 0 or sizes is not None and len(sizes) != len(pattern.left):
        return None
    return pattern if _are_unique(pattern.source) and _are_unique(pattern.result) else None


def _are_unique(axes: Sequence[str]) -> bool:
    return len(set(axes)) == len(axes)


def split(pattern: Value) -> list[str]:
    """The two sides of a pattern that is known and well-formed; otherwise nothing."""
    text = pattern.value if isinstance(pattern, Const) else None
    sides = text.split("->") if isinstance(text, str) and len(text) <= BOUNDS.pattern else []
    if len(sides) != 2 or not all(map(SIDE.fullmatch, sides)) or sides[0].count("...") < sides[1].count("..."):
        return []
    return sides


def _groups(side: str, mark: str, beyond: int) -> Groups:
    """``beyond`` is the number of axes that the ellipsis stands for. A number is an axis of its own; ``mark`` tells
    those of the two sides apart.
    """
    groups: Groups = []
    inside = False
    for place, part in enumerate(PART.findall(side)):
        if part in "()":
            inside = part == "("
            if inside:
                groups.append([])
            continue
        axes = [f"...{i}" for i in range(beyond)] if part == "..." else [part]
        if part.isdecimal():
            axes = [] if int(part) == 1 else [f"{part}{mark}{place}"]
        if inside:
            groups[-1].extend(axes)
        else:
            groups.extend([[axis] for axis in axes] if axes or part == "..." else [[]])
    return groups


def _lengths(pattern: Pattern, sizes: Sizes | None, given: Mapping[str, Value]) -> dict[str, int | None]:
    """The length of each axis, as far as it follows from the arguments and from the sizes of the tensor."""
    lengths = {axis: _stated(axis, given) for axis in (*pattern.source, *pattern.result)}
    for group, size in zip(pattern.left, sizes or ()):
        open_axes = [axis for axis in group if lengths[axis] is None]
        others = _product([axis for axis in group if axis not in open_axes], lengths)
        if len(open_axes) == 1 and size is not None and others:
            lengths[open_axes[0]] = size // others
    return lengths


def _stated(axis: str, given: Mapping[str, Value]) -> int | None:
    """The length of an axis that is a number or an argument."""
    if number := re.match(r"\d+", axis):
        return int(number[0])
    value = given.get(axis)
    return value.value if isinstance(value, Const) and isinstance(value.value, int) else None


def _product(group: Sequence[str], lengths: Mapping[str, int | None]) -> int | None:
    known = [length for axis in group if (length := lengths[axis]) is not None]
    return prod(known) if len(known) == len(group) else None


@frozen
class Steps:
    """The ops of one call."""

    machine: Machine
    state: State
    node: ast.AST

    def op(self, name: str, *args: Value, is_view: bool = False) -> Value:
        made = run(self.machine, self.state, name, args, {}, self.node, is_view)
        return Unknown(name) if made is None else made

    def tensor(self, value: Value) -> TensorRef | None:
        """What is given; the tensors of a list are stacked. None where it may be an array of another library."""
        thing = self.state.heap[value.id] if isinstance(value, HeapRef) else None
        if isinstance(thing, ListOfValues) and thing.kind == "list":
            value = self.op("stack", value) if all(isinstance(item, TensorRef) for item in thing.items) else value
        value = as_data(self.state, value)
        if isinstance(value, Unknown) and value.origin is Origin.BATCH:
            found = tensor_of(self.machine, self.state, value)
            return TensorRef(found) if found is not None else None
        return value if isinstance(value, TensorRef) else None

    def reshape(self, value: Value, sizes: Sequence[int | None], is_view: bool) -> Value:
        shape = [_number(size) for size in sizes] or [Tuple(())]
        return self.op("reshape", value, *shape, is_view=is_view)

    def reduce(self, value: Value, reduction: Value, dims: Sequence[Value]) -> Value:
        if isinstance(reduction, External):
            return self.machine.call(self.state, reduction, [value, Tuple(tuple(dims))], {}, self.node)
        name = reduction.value if isinstance(reduction, Const) else None
        if isinstance(name, str) and name in AT_ONCE:
            return self.op(AT_ONCE[name], value, Tuple(tuple(dims)))
        for dim in reversed(dims):
            value = self.op(str(name), value, dim)
        return value

    def expand(self, value: Value, places: Mapping[int, int | None], rank: int) -> Value:
        for place in places:
            value = self.op("unsqueeze", value, Const(place))
        sizes = [_number(places[i]) if i in places else Const(-1) for i in range(rank)]
        return self.op("expand", value, *sizes)

    def apply(self, value: Value, pattern: Pattern, lengths: Mapping[str, int | None], reduction: Value) -> Value:
        """What einops does, in its order. A step that changes nothing is left out."""
        source, kept = pattern.source, pattern.kept
        if _reshapes(pattern.left):
            value = self.reshape(value, [lengths[axis] for axis in source], is_view=True)
        order = [source.index(axis) for axis in (*kept, *pattern.reduced)]
        if order != sorted(order):
            value = self.op("permute", value, *map(Const, order))
        if pattern.reduced:
            value = self.reduce(value, reduction, [Const(dim) for dim in range(len(kept), len(order))])
        if added := {place: lengths[axis] for place, axis in enumerate(pattern.result) if axis not in source}:
            value = self.expand(value, added, len(pattern.result))
        if _reshapes(pattern.right):
            joins = any(sum(lengths[axis] != 1 for axis in group) > 1 for group in pattern.right)
            value = self.reshape(value, [_product(group, lengths) for group in pattern.right], is_view=not joins)
        return value


def _reshapes(groups: Groups) -> bool:
    return any(len(group) != 1 for group in groups)


def _number(size: int | None) -> Value:
    return unknown_number() if size is None else Const(size)


def sizes_of(state: State, value: Value) -> Sizes | None:
    extent = extent_of(state, value)
    return extent if isinstance(extent, tuple) else None


@function("einops.rearrange", "einops.repeat", "einops.einops.rearrange", "einops.einops.repeat")
def rearrange(machine: Machine, state: State, call: Call) -> Value:
    """Both are reductions of no axis: they differ in what they refuse."""
    steps = Steps(machine, state, call.node)
    value = steps.tensor(call.get(0, "tensor"))
    if value is None:
        return _unknown(machine, state, call)
    sides, sizes = split(call.get(1, "pattern")), sizes_of(state, value)
    pattern = read(sides, sizes) if sides else None
    if pattern is None or pattern.reduced:
        return steps.op("reshape", value, unknown_number())  # perhaps a view; whatever it is, it saves nothing
    return steps.apply(value, pattern, _lengths(pattern, sizes, call.kwargs), NONE)


@function("einops.reduce", "einops.einops.reduce")
def reduce(machine: Machine, state: State, call: Call) -> Value:
    """What an unknown pattern reduces is not known: then it is a call of unknown code."""
    steps, reduction = Steps(machine, state, call.node), call.get(2, "reduction")
    value = steps.tensor(call.get(0, "tensor")) if _is_modelled(reduction) else None
    sides = split(call.get(1, "pattern"))
    if value is None or not sides:
        return _unknown(machine, state, call)
    sizes = sizes_of(state, value)
    pattern = read(sides, sizes)
    if pattern is not None:
        return steps.apply(value, pattern, _lengths(pattern, sizes, call.kwargs), reduction)
    if sizes is None and _reduces(sides, reduction):
        return steps.reduce(value, reduction, [unknown_number()])
    return _unknown(machine, state, call)


def _is_modelled(reduction: Value) -> bool:
    """Its name, or a function of a library."""
    name = reduction.value if isinstance(reduction, Const) else None
    return name in AT_ONCE or name in ONE_BY_ONE or isinstance(reduction, External)


def _reduces(sides: Sequence[str], reduction: Value) -> bool:
    """Whether an axis is reduced whatever the ellipsis stands for; a sum or a mean saves nothing if none is."""
    gone = set(PART.findall(sides[0])) - set(PART.findall(sides[1])) - {"(", ")", "1", "..."}
    return bool(gone) or reduction in (Const("sum"), Const("mean"))


def _unknown(machine: Machine, state: State, call: Call) -> Value:
    return machine.call_unknown(state, call.args, call.kwargs, call.node, External(call.name))


@function("einops.layers.torch.Rearrange", "einops.layers.torch.Reduce")
def layer(machine: Machine, state: State, call: Call) -> Value:
    """A module without parameters, whose forward is the function with all but the tensor given."""
    name = call.name.rpartition(".")[2].lower()
    given = {**dict(zip(("pattern", "reduction"), call.args)), **call.kwargs}
    forward = Partial(External(f"einops.{name}"), (), tuple(given.items()))
    made = HeapRef(state.new(Instance(External("torch.nn.Module"), {"forward": forward, "training": TRUE})))
    machine.created_by[made.id] = call.node
    return made
