"""What one call of the training loop does here: ``backward()``, ``step()``, ``zero_grad()``, ``no_grad()``."""

from __future__ import annotations

import ast

from ..interp.values import GradMode
from ..rules.story import code
from .tensors import is_backward, retains
from .watch import Sighting, Watch
from .words import at, by_lap, laps_of, listed, tensors


def describe(watch: Watch, node: ast.Call) -> list[str] | None:
    """The lines about a call that is not about the tensor it returns."""
    seen = watch.seen(node)
    if any(event.moment.node is node for event in watch.backwards):
        return backward(watch, node)
    if seen and isinstance(seen[-1].value, GradMode):
        return grad_mode(node, seen[-1].value)
    if not isinstance(node.func, ast.Attribute):
        return None
    receiver = watch.seen(node.func.value)
    if node.func.attr == "step" and receiver and receiver[-1].optimizer is not None:
        return step(watch, node, seen)
    if node.func.attr == "zero_grad" and receiver and receiver[-1].optimizer is not None:
        return zero_grad(watch, node, receiver)
    if node.func.attr in ("item", "tolist") and any(s.tensors for s in receiver):
        return [f"**{code(node)}** · a plain Python value", "- it holds no graph: keeping it keeps no memory alive"]
    return None


def backward(watch: Watch, node: ast.Call) -> list[str] | None:
    passes = [event for event in watch.backwards if event.moment.node is node]
    last = max(passes, key=lambda event: laps_of(event.moment))
    if not last.ran and not last.reached:
        return None
    keeping = sum(item.keeps for item in last.ran)
    known = all(item.certain and not item.assumed for item in last.ran)
    operations = f"{len(last.ran)} operation{'s' * (len(last.ran) != 1)}" if known else "the operations of its graph"
    lines = [f"**{code(node)}** · runs {operations} backward"]
    saved = f"what {keeping} of them saved" if known else "what they saved"
    if known and not keeping:
        lines.append("- none of them saved anything: the same graph may be walked again")
    elif last.frees:
        lines.append(f"- frees {saved}: a second backward through those raises")
    else:
        kept = "keeps" if retains(node) else "may keep"
        lines.append(f"- {kept} {saved}: it stays in memory until a backward frees it, or the tensors are gone")
    told = [(event.moment, gain(watch, event.reached, is_backward(event))) for event in passes]
    lines.append(f"- {by_lap(told) or told[-1][1]}")
    return lines


def gain(watch: Watch, reached: tuple[int, ...], adds: bool) -> str:
    if not adds:
        return "returns gradients; `.grad` of the leaves is left alone"
    return f"adds to `.grad` of {tensors(watch.tape, reached)}" if reached else "no leaf gets a gradient"


def grad_mode(node: ast.Call, value: GradMode) -> list[str] | None:
    if value.mode is False:
        return [
            f"**{code(node)}** · nothing is recorded",
            "- results of operations have requires_grad=False and no grad_fn",
            "- in-place writes still count: writing a saved tensor makes its backward raise here as well",
        ]
    if value.mode is True:
        return [f"**{code(node)}** · operations are recorded", "- results require grad if one of their inputs does"]
    return None


def step(watch: Watch, node: ast.Call, seen: list[Sighting]) -> list[str] | None:
    told = []
    for sighting in seen:
        written = [w.tensor for w in sighting.writes]
        told.append((sighting.moment, f"updates {tensors(watch.tape, written)} in place" if written else ""))
    told = [item for item in told if item[1]]
    if not told:
        return None
    return [
        f"**{code(node)}** · writes parameters in place",
        f"- {by_lap(told) or told[-1][1]}: those that have a `.grad`",
        "- the writes count: a graph that saved one of them, and is run backward after this, raises",
    ]


def zero_grad(watch: Watch, node: ast.Call, receiver: list[Sighting]) -> list[str] | None:
    told = []
    for sighting in receiver:
        assert sighting.optimizer is not None
        held = [key for key in sighting.optimizer.params if key in sighting.grads]
        if held:
            told.append((sighting.moment, f"drops the gradients of {tensors(watch.tape, held)}"))
        elif not sighting.optimizer.open:
            told.append((sighting.moment, "there is no gradient yet"))
    if not told:
        return None
    own = {key for sighting in receiver if sighting.optimizer is not None for key in sighting.optimizer.params}
    adders = listed(at(e.moment.node) for e in watch.backwards if is_backward(e) and own.intersection(e.reached))
    lines = [f"**{code(node)}** · clears `.grad`", f"- {by_lap(told) or told[-1][1]}"]
    if adders:
        lines.append(f"- without it {adders} would add to the gradients that are there")
    return lines
