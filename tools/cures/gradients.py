"""Which leaves the backwards of a program reach, by the names that the program has for them.

A backward that raises counts too: the leaves of its graph are those that the program means to train. So a cure that
cuts them off is seen, whatever the analyser says of it.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch
from torch import nn

DEEP = 4
"""How many attributes and items a name may have: `self.layers[0].weight` has three."""
WIDE = 200
"""Items of a container that are looked at."""


@dataclass(slots=True)
class Reached:
    """The leaves that the backwards of a program reach, each by all of its names."""

    leaves: list[frozenset[str]] = field(default_factory=list)

    @property
    def names(self) -> frozenset[str]:
        """All names of all of them."""
        return frozenset().union(*self.leaves)

    def lost_in(self, after: Reached) -> list[str]:
        """A name of each leaf that no backward of ``after`` reaches."""
        known = after.names
        return sorted({min(names) for names in self.leaves if names and not names & known})


@contextlib.contextmanager
def recording(filename: str) -> Iterator[Reached]:
    """Every backward that the program of ``filename`` runs inside adds the leaves it reaches."""
    reached, run = Reached(), torch.autograd._engine_run_backward

    def noted(outputs: Any, *rest: Any, **options: Any) -> Any:
        wanted = {id(leaf) for leaf in _leaves(outputs, rest[3] if len(rest) > 3 else ())}
        names: dict[int, set[str]] = {}
        for name, leaf in _named(sys._getframe(1), filename):
            if id(leaf) in wanted:
                names.setdefault(id(leaf), set()).add(name)
        reached.leaves += [found for one in names.values() if (found := frozenset(one)) not in reached.leaves]
        return run(outputs, *rest, **options)

    torch.autograd._engine_run_backward = noted
    try:
        yield reached
    finally:
        torch.autograd._engine_run_backward = run


def _leaves(outputs: Iterable[Any], inputs: Any) -> Iterator[torch.Tensor]:
    """The leaves that a backward from ``outputs`` gives a gradient: all, or the ``inputs`` if there are any."""
    if inputs:
        yield from (one for one in inputs if isinstance(one, torch.Tensor) and one.is_leaf)
        return
    left = [one.node if hasattr(one, "node") else one.grad_fn for one in outputs]
    left += [None]
    seen: set[Any] = {None}
    yield from (one for one in outputs if isinstance(one, torch.Tensor) and one.is_leaf and not _is_untracked(one))
    while left:
        node = left.pop()
        if node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            yield node.variable
        left += [other for other, _ in node.next_functions]


def _is_untracked(leaf: torch.Tensor) -> bool:
    """Whether a leaf only seems to require grad: a view of one that was made without gradients gets none."""
    return leaf._base is not None and leaf._base.requires_grad


def _named(frame: FrameType | None, filename: str) -> Iterator[tuple[str, torch.Tensor]]:
    """The leaves that the program's frames have names for: ``forward:self.w``, ``w``."""
    while frame is not None:
        code = frame.f_code
        if code.co_filename == filename:
            prefix = "" if frame.f_locals is frame.f_globals else f"{code.co_name}:"
            for name, value in list(frame.f_locals.items()):
                yield from _inside(prefix + name, value, DEEP)
            if prefix:
                for name, value in list(frame.f_globals.items()):
                    if not name.startswith("__"):
                        yield from _inside(name, value, DEEP)
        frame = frame.f_back


def _inside(name: str, value: object, deep: int) -> Iterator[tuple[str, torch.Tensor]]:
    """The leaves in a value, by their names."""
    if isinstance(value, torch.Tensor):
        if value.is_leaf and value.requires_grad:
            yield name, value
    elif deep and not isinstance(value, (type, torch.optim.Optimizer)):
        for path, item in _items(value):
            yield from _inside(name + path, item, deep - 1)


def _items(value: object) -> Iterator[tuple[str, object]]:
    """What a value consists of, each with how it is asked for."""
    if isinstance(value, nn.Module):
        yield from ((f".{path}", leaf) for path, leaf in value.named_parameters())
        yield from ((f".{key}", item) for key, item in vars(value).items() if not key.startswith("_"))
    elif isinstance(value, (list, tuple)):
        yield from ((f"[{index}]", item) for index, item in enumerate(value[:WIDE]))
    elif isinstance(value, dict):
        yield from ((f"[{key!r}]", item) for key, item in list(value.items())[:WIDE])
    elif type(value).__module__ == "__main__":
        yield from ((f".{key}", item) for key, item in list(getattr(value, "__dict__", {}).items()))
