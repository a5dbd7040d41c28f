"""What a row claims of a call, against what PyTorch does when it is run.

A claim that is not true of the call (``claims``) may become a false alarm; what happens without being claimed
(``misses``) may become a missed one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tools.ops.kinds import kind_of
from tools.ops.probe import Observation, Unsuitable
from tools.ops.probed import observe_call

from tapelint import ops
from tapelint.ops.schema import Op


def judge(
    name: str, function: Callable[..., object], positional: Sequence[Any], keywords: Mapping[str, Any]
) -> Iterator[str]:
    """In words, how the call differs from its row. Nothing if it has no row or cannot be run."""
    kinds = [kind_of(value) for value in positional], {key: kind_of(value) for key, value in keywords.items()}
    op = ops.resolve(name, *kinds)
    if op is None:
        yield "resolves to no row"
        return
    try:
        seen = observe_call(op, function, positional, dict(keywords))
    except Unsuitable:
        return
    for complaint in differences(op, seen):
        yield f"{op.overload}: {complaint}"


def differences(op: Op, seen: Observation) -> Iterator[str]:
    """What a row says wrongly of a call that was observed."""
    yield from _different_results(op, seen)
    for subset in seen.subsets:
        yield from _differently_saved(op, seen, subset)


def _different_results(op: Op, seen: Observation) -> Iterator[str]:
    """What a row says wrongly of the results and of what is written."""
    if not seen.flows <= op.flows:
        yield f"misses flows {sorted(seen.flows - op.flows)}"
    if seen.writes != frozenset(op.writes):
        yield f"{'claims' if op.writes else 'misses'} writes {sorted(seen.writes)} not {sorted(op.writes)}"
    if op.view not in ("maybe", seen.view) and not op.writes:
        yield f"claims view {op.view!r} not {seen.view!r}"
    if op.scalar != seen.scalar:
        yield f"{'claims' if op.scalar else 'misses'} scalar"
    if op.outputs >= 0 and op.outputs != seen.outputs:
        yield f"claims outputs {op.outputs} not {seen.outputs}"
    if seen.flows and op.outputs >= 0 and op.constant != seen.constant:
        yield f"claims constant {sorted(op.constant)} not {sorted(seen.constant)}"


def _differently_saved(op: Op, seen: Observation, subset: frozenset[str]) -> Iterator[str]:
    """What a row says wrongly of what is saved where the inputs of ``subset`` require grad."""
    wanted = [s for s in op.saves if not s.gradient_of or s.gradient_of & subset]
    claimed = {s.what for s in wanted if s.what in seen.given or s.what.startswith("result")}
    yield from _differences(claimed, seen, subset)
    keeps = bool(claimed) or any(s.what == "~" for s in wanted)
    if keeps and subset in seen.reusable:
        yield f"claims something saved for {sorted(subset)}"
    if not keeps and subset not in seen.reusable:
        yield f"misses something saved for {sorted(subset)}"


def _differences(claimed: set[str], seen: Observation, subset: frozenset[str]) -> Iterator[str]:
    found = {what for what, where in seen.saved.items() if subset in where}
    if extra := claimed - found:
        yield f"claims saved {sorted(extra)} for {sorted(subset)}"
    if missing := found - claimed:
        yield f"misses saved {sorted(missing)} for {sorted(subset)}"
