"""The rows by name. The file is read once, on first use; a line is parsed when its name is first asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

from tapelint.ops.binding import fit
from tapelint.ops.schema import Op
from tapelint.ops.text import parse_op, split_name

TABLE = Path(__file__).with_name("table.txt")


@cache
def _lines() -> dict[str, list[str]]:
    by_name: dict[str, list[str]] = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            by_name.setdefault(split_name(line), []).append(line)
    return by_name


@cache
def names() -> frozenset[str]:
    """Every name that has a row."""
    return frozenset(_lines())


@lru_cache(4096)
def candidates(name: str) -> tuple[Op, ...]:
    """All overloads of a name, in the order in which PyTorch tries them; empty for a name the table does not know."""
    return tuple(parse_op(line) for line in _lines().get(name, ()))


@lru_cache(4096)
def takes(name: str, parameter: str) -> bool:
    """Whether every overload of a name has this parameter."""
    rows = candidates(name)
    return bool(rows) and all(any(each.name == parameter for each in op.params) for op in rows)


@lru_cache(4096)
def joins(name: str) -> bool:
    """Whether every overload of a name takes tensors in a list: ``cat``, ``stack``."""
    rows = candidates(name)
    return bool(rows) and all(op.params[:1] != () and op.params[0].kind == "tensors" for op in rows)


def overload(name: str, which: str) -> Op | None:
    """The row of one overload, ``overload("mul", "Tensor")``."""
    return next((op for op in candidates(name) if op.overload == which), None)


def resolve(name: str, positional: Sequence[str], keywords: Mapping[str, str] | None = None) -> Op | None:
    """The overload a call runs, from the kinds of its arguments (see ``binding``), ``self`` first.

    As in PyTorch the first overload that surely fits wins. If arguments are not known well enough to tell, the answer
    is the fitting overload whose claims hold for all the others too: so ``x * unknown`` is ``mul/Number``, which says
    that something is saved but not what. If no overload is that weak, it is what they have in common
    (``dropout(x, training=unknown)`` saves nothing for sure and may return x itself), and ``None`` if they do not even
    write the same or return as many tensors.
    """
    possible = _possible(name, positional, keywords or {})
    for op in reversed(possible):
        if all(_is_weaker(op, other) for other in possible):
            return op if all(op.sizes == other.sizes for other in possible) else replace(op, sizes=())
    return _in_common(possible) if possible else None


def _possible(name: str, positional: Sequence[str], keywords: Mapping[str, str]) -> list[Op]:
    """The overloads that may fit. A view, ``x.view(unknown)``, has the graph of its base: the overload that reads the
    memory as another dtype, and so has none, is meant only where it fits for certain.
    """
    possible: list[Op] = []
    for op in candidates(name):
        verdict = fit(op, positional, keywords)
        if verdict is not False:
            possible.append(op)
        if verdict:
            break
    views = [op for op in possible if op.view and op.flows]
    return views if views and all(op.view for op in possible) else possible


def _in_common(possible: Sequence[Op]) -> Op | None:
    first = possible[0]
    if any((op.writes, op.outputs, op.flows) != (first.writes, first.outputs, first.flows) for op in possible):
        return None
    return replace(
        first,
        overload="",
        saves=tuple(saved for saved in first.saves if all(saved in op.saves for op in possible)),
        view=first.view if all(op.view == first.view for op in possible) else "maybe",
        scalar=all(op.scalar for op in possible),
        constant=frozenset.intersection(*(op.constant for op in possible)),
        sizes=first.sizes if all(op.sizes == first.sizes for op in possible) else (),
        grad_fn="",
    )


def _places(op: Op) -> set[int | str]:
    """What flows into the results, by position: a function and a method may call one argument by two names."""
    slots = [param.name for param in op.slots]
    return {slots.index(name) if name in slots else name for name in op.flows}


def _is_weaker(op: Op, other: Op) -> bool:
    """Is everything the row says of a call true of the other overload as well?"""
    if op is other:
        return True
    if (op.writes, op.view, op.outputs, op.constant) != (other.writes, other.view, other.outputs, other.constant):
        return False
    if op.scalar and not other.scalar or not (op.flows <= other.flows or _places(op) <= _places(other)):
        return False
    return all(_is_saved_by(saved.what, saved.gradient_of or op.flows, other) for saved in op.saves)


def _is_saved_by(what: str, gradient_of: frozenset[str], other: Op) -> bool:
    """Whenever one of these gradients is needed, does the other overload save the same thing (any, if private)?"""
    covered: set[str] = set()
    for saved in other.saves:
        if what in ("~", saved.what):
            covered |= saved.gradient_of or other.flows
    return gradient_of <= covered
