"""What the gradient of an op depends on, measured: the edges of a graph of gradients (``create_graph=True``).

    exp: self<result                      the gradient of self is a product with the result
    mul/Tensor: other<self* self<other*   each depends on the other factor
    max:                                  nothing: which element is the largest has no gradient

A line says for the gradient of each parameter on which others it depends. ``*`` after a name: the graph of the gradient
keeps that tensor if the gradient that came in is recorded itself; ``!``: it always keeps it. ``?`` instead of names: it
differs from call to call. What is not named depends on nothing.

An op that writes one of its arguments is given a copy of a leaf to write; what it depends on of that argument is what
the copy was before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from tools.ops import native, samples, synthetic
from tools.ops.hand_samples import CALLS
from tools.ops.kinds import kind_of
from tools.ops.quiet import quiet
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

from tapelint import ops
from tapelint.ops.schema import Op
from tapelint.ops.table import names

ENOUGH = 5
Dependence = dict[str, set[str]]
"""For each parameter, the names its gradient depends on, marked."""


def lines() -> Iterator[str]:
    """One for each differentiable overload that could be run."""
    for name in sorted(names()):
        function = _callable(name)
        if function is None or not any(op.flows and "out" not in op.writes for op in ops.candidates(name)):
            continue
        found: dict[str, list[Dependence]] = {}
        for op, dependence in _observed(name, function, samples.for_row(name)):
            found.setdefault(op.overload, []).append(dependence)
        for stub in ops.candidates(name):
            if stub.overload not in found and stub.flows and "out" not in stub.writes:
                for op, dependence in _observed(name, function, synthetic.calls(stub)):
                    found.setdefault(op.overload, []).append(dependence)
        for overload, seen in sorted(found.items()):
            yield f"{name}{'/' if overload else ''}{overload}: {' '.join(words(seen))}".strip()


def _callable(name: str) -> Callable[..., Any] | None:
    if name in CALLS:
        return CALLS[name]
    if name in ("H", "T", "mH", "mT"):
        return lambda self: getattr(self, name)
    function = getattr(F, name.removeprefix("nn.functional."), None) if name.startswith("nn.functional.") else None
    return function or next(native.callables(name), None)


def _observed(
    name: str, function: Callable[..., Any], calls: Iterable[samples.Sample]
) -> Iterator[tuple[Op, Dependence]]:
    counts: dict[str, int] = {}
    for positional, keywords in calls:
        kinds = [kind_of(value) for value in positional], {key: kind_of(value) for key, value in keywords.items()}
        op = ops.resolve(name, *kinds)
        slots = ops.bind(op, range(len(positional)), {key: key for key in keywords}) if op is not None else None
        tensors = [value for value in tree_leaves((positional, keywords)) if isinstance(value, Tensor)]
        if op is None or "out" in op.writes or slots is None or not all(value.numel() for value in tensors):
            continue
        if counts.get(op.overload, 0) >= ENOUGH:
            continue
        try:
            with quiet():
                yield op, measure(op, function, positional, keywords, slots)
        except Exception:  # whatever PyTorch refuses is of no use as a sample
            continue
        counts[op.overload] = counts.get(op.overload, 0) + 1


class Run:
    """One call on fresh tensors, and the gradient of one parameter, with a graph. ``before`` are the nodes that made
    what the op writes.
    """

    def __init__(
        self,
        op: Op,
        function: Callable[..., Any],
        call: tuple[Sequence[Any], dict[str, Any]],
        slots: dict[str, object],
        recorded: bool,
    ) -> None:
        copies: dict[int, Tensor] = {}
        positional, keywords = call
        given = {name: _argument(slot, positional, keywords) for name, slot in slots.items() if name in op.flows}
        written = {id(given.get(name)) for name in op.writes}
        self.before: set[Any] = set()

        def fresh(value: Any) -> Any:
            if not isinstance(value, Tensor) or not value.is_floating_point():
                return value
            copy = copies.setdefault(id(value), value.detach().clone().requires_grad_())
            if id(value) not in written:
                return copy
            target = copy.clone()
            self.before.add(target.grad_fn)
            return target

        args, kwargs = tree_map(fresh, (tuple(positional), dict(keywords)))
        self.inputs = {name: copies[id(value)] for name, value in given.items() if id(value) in copies}
        result = function(*args, **kwargs)
        self.root = next(t for t in tree_leaves(result) if isinstance(t, Tensor) and t.requires_grad)
        self.start = torch.ones_like(self.root).requires_grad_(recorded)

    def gradient(self, name: str) -> Tensor | None:
        return torch.autograd.grad(self.root, self.inputs[name], self.start, create_graph=True, allow_unused=True)[0]


def _argument(slot: object, positional: Sequence[Any], keywords: dict[str, Any]) -> object:
    return positional[slot] if isinstance(slot, int) else keywords.get(slot) if isinstance(slot, str) else None


def _variables(nodes: Iterable[Any]) -> set[int]:
    """The leaves that nodes accumulate in, by identity; of None for other nodes."""
    return {id(getattr(node, "variable", None)) for node in nodes}


def measure(
    op: Op, function: Callable[..., Any], positional: Sequence[Any], keywords: dict[str, Any], slots: dict[str, Any]
) -> Dependence:
    def run(recorded: bool) -> Run:
        return Run(op, function, (positional, keywords), slots, recorded)

    saves_result = any(saved.what.startswith("result") for saved in op.saves)
    found: Dependence = {}
    for name in run(False).inputs:
        once = run(False)
        g = once.gradient(name)
        found[name] = set()
        if g is None or not g.requires_grad:
            continue
        forward = _reachable(once.root.grad_fn, ()) - once.before
        through = _reachable(g.grad_fn, ())
        leaves = _variables(through - forward if saves_result else through)
        leaves |= _variables(_reachable(g.grad_fn, forward))
        for other, tensor in once.inputs.items():
            if id(tensor) in leaves:
                mark = "!" if _kept(run(False), name, other) else "*" if _kept(run(True), name, other) else ""
                found[name].add(other + mark)
        shared = any(type(n).__name__ != "AccumulateGrad" for n in through & forward)
        if shared and (saves_result or _freed_with(run(False), name)):
            found[name].add("result")
    return found


def _freed_with(run: Run, name: str) -> bool:
    """Whether the graph of the gradient ends where a backward through the op has freed it: it leads to nodes inside,
    where the op is made of several.
    """
    g = run.gradient(name)
    assert g is not None
    wanted = [*run.inputs.values()]
    torch.autograd.grad(run.root, wanted, torch.ones_like(run.root), allow_unused=True)
    try:
        torch.autograd.grad(g.sum(), wanted, allow_unused=True)
    except RuntimeError as error:
        return "second time" in str(error)
    return False


def _kept(run: Run, name: str, other: str) -> bool:
    """Whether the graph of the gradient needs ``other`` unwritten."""
    g = run.gradient(name)
    if g is None:
        return False
    with torch.no_grad():
        run.inputs[other].add_(0)
    try:
        torch.autograd.grad(g.sum(), [*run.inputs.values()], allow_unused=True)
    except RuntimeError as error:
        return "modified by an inplace operation" in str(error)
    return False


def _reachable(node: Any, without: Iterable[Any]) -> set[Any]:
    """The nodes of a graph; not those of ``without``, but for the leaves among them."""
    seen: set[Any] = set()
    todo, stop = [node], {item for item in without if type(item).__name__ != "AccumulateGrad"}
    while todo:
        item = todo.pop()
        if item is not None and item not in seen and item not in stop:
            seen.add(item)
            todo += [child for child, _ in item.next_functions]
    return seen


def words(seen: Sequence[Dependence]) -> Iterator[str]:
    for name in sorted({n for item in seen for n in item}):
        kinds = [item[name] for item in seen if name in item]
        if any(kinds) and not all(kinds):
            yield f"{name}<?"
        elif any(kinds):
            yield f"{name}<{','.join(sorted(_weakest(kinds)))}"


def _weakest(kinds: Sequence[set[str]]) -> Iterator[str]:
    """Every name, with the mark that all who have it agree on; the result only where all depend on it."""
    names = {word.rstrip("!*") for kind in kinds for word in kind}
    if not all("result" in kind for kind in kinds):
        names.discard("result")
    for name in names:
        marks = {word.removeprefix(name) for kind in kinds for word in kind if word.rstrip("!*") == name}
        yield name + ("" if "" in marks else "*" if "*" in marks else "!")
