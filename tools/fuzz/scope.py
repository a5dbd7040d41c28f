"""What a program being written has at hand: variables with their types, and what the writer knows of their graphs.

The knowledge is rough. It only serves to write programs of which about a third raises; which ones do is for PyTorch to
say.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, fields


@dataclass(slots=True)
class Variable:
    """``text`` is how it is written (``t3``, ``box.h``); ``past`` are the values it came from, with itself.

    ``many`` marks what came with others from one op (``unbind``): PyTorch refuses to write it.
    """

    text: str
    type: str
    grad: bool = False
    leaf: bool = False
    past: frozenset[int] = frozenset()
    many: bool = False


@dataclass(frozen=True, slots=True)
class Callee:
    """Something to call with tensors: ``takes`` and ``gives`` are types; ``several`` where it yields many of them."""

    text: str
    takes: tuple[str, ...]
    gives: str
    several: bool = False


@dataclass(slots=True)
class Scope:
    """Variables by the text that reads them, and the containers, modules, functions and optimizers beside them.

    ``modules`` map a name to the types it can be called with (it gives the type it takes); ``cells`` are recurrent,
    with the names of their states. ``networks`` have parameters, and ``twins`` are pairs of the same architecture,
    ``averages`` averages of weights with the network they follow.
    """

    variables: dict[str, Variable] = field(default_factory=dict)
    lists: dict[str, str] = field(default_factory=dict)
    dicts: dict[str, str] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)
    networks: list[str] = field(default_factory=list)
    twins: list[tuple[str, str]] = field(default_factory=list)
    averages: list[tuple[str, str]] = field(default_factory=list)
    cells: dict[str, tuple[str, ...]] = field(default_factory=dict)
    functions: list[Callee] = field(default_factory=list)
    optimizers: list[str] = field(default_factory=list)
    counters: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    freed: set[int] = field(default_factory=set)

    def copy(self) -> Scope:
        """For a block: what is made in it may not be there after it. What was freed stays freed."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return Scope(**{name: value if name == "freed" else value.copy() for name, value in values.items()})

    def pick(self, rng: random.Random, kind: str, careful: bool = True) -> Variable | None:
        """A variable of a type; a careful writer avoids graphs that were freed, and prefers what was made last."""
        found = [v for v in self.variables.values() if v.type == kind]
        if careful:
            found = [v for v in found if not v.past & self.freed] or [v for v in found if v.leaf] or found
        if not found:
            return None
        if rng.random() < 0.4:
            found = found[-3:]
        return rng.choice(found)

    def trained(self, careful: bool = True) -> list[Variable]:
        """What has a graph, or is a leaf."""
        return [v for v in self.variables.values() if v.grad and not (careful and v.past & self.freed)]

    def leaves(self) -> list[Variable]:
        """What was made as a leaf, not a view of one."""
        return [v for v in self.variables.values() if v.leaf and v.grad and v.text[0] in "xc" and v.text.isidentifier()]
