"""What the op table means for who writes in place: every public op in the group that tells what it saves.

tanh -> RESULT        do not write the result
log  -> INPUT         do not write the input
mul  -> OTHER         do not write a factor if the other one needs a gradient
add  -> NOTHING       write what you like, walk it as often as you like
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from tapelint.ops import Op, Saved
from tapelint.ops.table import candidates, names

from .shown import public, shown

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Group:
    """One answer to "what is saved": how the page says it, and what follows for the user."""

    title: str
    anchor: str
    write_result: str
    write_input: str
    walk_twice: str


RESULT = Group("its result", "the-result-was-saved", "no", "yes", "raises")
INPUT = Group("its input", "the-input-was-saved", "yes", "no", "raises")
BOTH = Group("input and result", "input-and-result-were-saved", "no", "no", "raises")
OTHER = Group(
    "the other factor",
    "the-other-factor-was-saved",
    "yes",
    "if the other one needs no gradient",
    "raises",
)
ASIDE = Group(
    "a mask, an index, a target",
    "masks-indices-and-targets-are-saved-too",
    "yes",
    "yes, but not the mask",
    "raises",
)
PRIVATE = Group("something out of reach", "what-can-be-walked-twice", "yes", "yes", "raises")
NOTHING = Group("nothing", "nothing-was-saved", "yes", "yes", "runs")
GROUPS = (RESULT, INPUT, BOTH, OTHER, ASIDE, PRIVATE, NOTHING)

EVERYDAY = frozenset(
    "abs add amax bmm cat clamp clone conv2d cos cumsum div embedding exp expand F.avg_pool2d F.batch_norm "
    "F.cross_entropy F.dropout F.gelu F.interpolate F.layer_norm F.leaky_relu F.linear F.max_pool2d F.mse_loss "
    "F.nll_loss F.silu F.softplus flip gather index_select inverse log log_softmax logsumexp masked_fill matmul "
    "max mean min mul norm permute pow prod reciprocal relu reshape rsqrt scatter_add sigmoid sin softmax split "
    "sqrt stack std sub sum tan tanh topk transpose tril var view where x[1:] x[index]".split()
)
"""What the short table names; the complete lists stand below it."""


def group_of(op: Op) -> Group:
    """The group of one overload."""
    kinds = {_group_alone(op, saved) for saved in op.saves}
    if RESULT in kinds:
        return RESULT if kinds.isdisjoint({INPUT, OTHER}) else BOTH
    return next((group for group in (INPUT, OTHER, ASIDE, PRIVATE) if group in kinds), NOTHING)


def _group_alone(op: Op, saved: Saved) -> Group:
    """The group that an overload would be in if it saved nothing else."""
    if saved.what == "~":
        return PRIVATE
    if saved.what.startswith("result"):
        # The indices of a maximum are no place that a program writes to.
        return PRIVATE if int(saved.what[6:] or 0) in op.constant else RESULT
    if saved.what not in op.flows:
        return ASIDE
    return INPUT if not saved.gradient_of or saved.what in saved.gradient_of else OTHER


def differentiable(name: str, in_place: bool) -> list[Op]:
    """The overloads that make a node and are known to; those that write an ``out=`` never do."""
    return [
        op
        for op in candidates(name)
        if op.flows
        and op.source != "schema"
        and bool(op.writes) is in_place
        and not any(p.name == "out" for p in op.params)
    ]


def grouped() -> dict[Group, list[str]]:
    """The functions of each group."""
    return _sorted_by(group_of, [name for name in names() if not name.endswith("_")], in_place=False)


def twins() -> dict[bool, list[str]]:
    """The in-place operations, by whether the tensor they wrote is saved as it is afterwards."""
    return _sorted_by(saves_what_it_wrote, [name for name in names() if name.endswith("_")], in_place=True)


def saves_what_it_wrote(op: Op) -> bool:
    """Whether the next write to what this in-place op wrote raises."""
    return any(saved.what == "result" for saved in op.saves)


def _sorted_by(key: Callable[[Op], K], among: Iterable[str], in_place: bool) -> dict[K, list[str]]:
    """Public names by ``key``. Where overloads disagree, each stands in its own place with its parameters; what these
    do not tell apart is left out.
    """
    found: dict[str, set[K]] = {}
    for name in among:
        if public(name) and (ops := differentiable(name, in_place)):
            agreed = len({key(op) for op in ops}) == 1
            for op in ops:
                entry = shown(name) if agreed else f"{shown(name)}({_arguments(op)})"
                found.setdefault(entry, set()).add(key(op))
    sorted_by: dict[K, list[str]] = {}
    for entry in sorted(found, key=lambda entry: (entry.casefold(), entry)):
        if len(found[entry]) == 1:
            sorted_by.setdefault(min(found[entry], key=repr), []).append(entry)
    return sorted_by


def _arguments(op: Op) -> str:
    return ", ".join(f"{p.name}: {p.kind}" for p in op.params[1:] if p.required)
