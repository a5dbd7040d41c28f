"""What the calls of a training step do here: ``zero_grad``, ``clip_grad_norm_``, ``step``.

opt.zero_grad()    # which gradients it clears, and whether any code had used them
opt.step()         # which parameters it writes, and whose saved tensors that spoils
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from ..autograd import ProgramPoint, Write
from ..autograd.events.graph_walks import SavedTensorModified
from ..autograd.gradients.history import GradientHistory
from ..rules.support.story import code
from .call_trace import CallRun
from .passes import operations
from .probe import HoverProbe
from .wording import listed, tensors, told_lines


def step(probe: HoverProbe, node: ast.Call, runs: Sequence[CallRun]) -> list[str] | None:
    remarks: list[tuple[ProgramPoint, str]] = []
    used: list[tuple[ProgramPoint, str]] = []
    for run in runs:
        before = run.before
        held = [key for key in before.owned if key in before.grads]
        written = held if before.fused else list(dict.fromkeys([*held, *(w.tensor for w in run.writes)]))
        idle = [key for key in before.owned if key not in written]
        if not written:
            if not before.is_partial and idle:
                remarks.append((run.point, f"updates nothing: {without(probe, idle)}"))
            continue
        rest = f"; {without(probe, idle)}: unchanged" if idle else ""
        remarks.append((run.point, f"updates {tensors(probe.facts, written)} in place{rest}"))
        used.append((run.point, uses(probe, run, held)))
    if not remarks:
        return None
    lines = [f"**{code(node)}** · writes parameters in place", *told_lines(remarks)]
    lines += told_lines([(point, text) for point, text in used if text])
    return lines + spoils(probe, runs)


def without(probe: HoverProbe, keys: Sequence[int]) -> str:
    return f"{tensors(probe.facts, keys)} {'has' if len(keys) == 1 else 'have'} no `.grad`"


def uses(probe: HoverProbe, run: CallRun, keys: Sequence[int]) -> str:
    """Which backward passes the gradients come from."""
    pasts = [past for key in keys if (past := run.before.past(key)).passes and not past.doubt]
    sources = dict.fromkeys(one.point.node for past in pasts for one in past.passes)
    if not sources:
        return ""
    text = f"with the gradients of {listed(probe.at(node) for node in sources)}"
    if any(past.used and not past.perhaps for past in pasts):
        text += ", a part of which a step has used before: they were not cleared since"
    return text


def spoils(probe: HoverProbe, runs: Sequence[CallRun]) -> list[str]:
    """Whose saved tensors the update changes."""
    remarks: list[tuple[ProgramPoint, str]] = []
    for run in runs:
        if run.writes:
            remarks.append((run.point, spoiled(probe, run, run.writes)))
        elif run.before.fused:
            remarks.append((run.point, "a fused optimizer: the version counters do not count these writes"))
    return told_lines(remarks)


def spoiled(probe: HoverProbe, run: CallRun, writes: Sequence[Write]) -> str:
    counters = {run.before.owned[w.tensor].version_counter for w in writes if w.tensor in run.before.owned}
    for trouble in probe.troubles:
        if isinstance(trouble, SavedTensorModified) and trouble.write in writes:
            saved, needs_it = operations(probe, [trouble.node]), probe.at(trouble.point.node)
            return f"**spoils** what {saved} saved: {needs_it} needs it and raises"
    first = min(write.stamp for write in writes)
    alive = {
        node
        for counter in counters
        for node, _ in probe.savers(counter)
        if node.id < first
        and node.certain
        and node not in run.after.freed
        and not any(event.frees for event in probe.ran(node))  # then it is a node of another path
    }
    if alive:
        saved = operations(probe, alive)
        return f"changes what {saved} saved: a backward through that from here on raises (none is seen)"
    return "no graph that is seen here, and not freed, has saved them: nothing is spoiled"


def zero_grad(probe: HoverProbe, node: ast.Call, runs: Sequence[CallRun]) -> list[str] | None:
    """Which gradients a call clears, and whether a step had used them."""
    remarks = [(run.point, text) for run in runs if (text := _cleared(probe, run))]
    if not remarks:
        return None
    fate = [(run.point, text) for run in runs if (held := _held(run)) and (text := used(probe, run, held))]
    own = {key for run in runs for key in run.before.owned}
    adders = listed(probe.at(e.point.node) for e in probe.backwards if e.accumulates and own.intersection(e.reached))
    lines = [f"**{code(node)}** · clears `.grad`", *told_lines(remarks), *told_lines(fate)]
    if adders:
        lines.append(f"- without it {adders} would add to the gradients that are there")
    return lines


def _held(run: CallRun) -> list[int]:
    """The tensors of the optimizer or module that have a ``.grad`` when the call begins."""
    return [key for key in run.before.owned if key in run.before.grads]


def _cleared(probe: HoverProbe, run: CallRun) -> str:
    """What one run of ``zero_grad`` does; empty where its tensors are not known."""
    held = _held(run)
    if held:
        verb = "sets to zero" if any(key in run.after.grads for key in held) else "drops"
        return f"{verb} the gradients of {tensors(probe.facts, held)}"
    if run.before.is_partial or not run.before.owned:
        return ""
    never = all(run.before.past(key).never for key in run.before.owned)
    return "there is no gradient yet" if never else "there is no gradient to drop"


def _is_unclear(past: GradientHistory) -> bool:
    """Whether it is not certain where a gradient comes from."""
    return past.doubt or past.perhaps or not past.passes


def _steps(probe: HoverProbe, pasts: Iterable[GradientHistory]) -> str:
    """The optimizer steps that last used some gradients."""
    return listed(probe.at(past.step.node) for past in pasts if past.step is not None)


def used(probe: HoverProbe, run: CallRun, keys: Sequence[int]) -> str:
    """What had become of the gradients that go."""
    pasts = [run.before.past(key) for key in keys]
    if any(map(_is_unclear, pasts)):
        return ""
    if all(not past.fresh for past in pasts):
        return f"{_steps(probe, pasts)} has used them"
    lost = dict.fromkeys(one for past in pasts for one in past.fresh)
    untouched = all(not past.used and past.fresh for past in pasts)
    if untouched and not any(one in run.before.spent for one in lost):
        sources = listed(probe.at(one.point.node) for one in lost)
        return f"nobody has used them: what {sources} computed is lost"
    return ""


def clip(probe: HoverProbe, node: ast.Call, runs: Sequence[CallRun]) -> list[str] | None:
    """``clip_grad_norm_`` and ``clip_grad_value_``."""
    remarks: list[tuple[ProgramPoint, str]] = []
    more: list[tuple[ProgramPoint, str]] = []
    for run in runs:
        given = next(iter(run.given.values()), ())
        held = [key for key in given if key in run.before.grads]
        if not held:
            if given:
                remarks.append((run.point, f"{without(probe, given)}: nothing is clipped"))
            continue
        remarks.append(
            (run.point, f"scales down `.grad` of {tensors(probe.facts, held)} in place, where it is too large")
        )
        origin = _clipped(probe, [run.before.past(key) for key in held])
        if origin:
            more.append((run.point, origin))
    if not remarks:
        return None
    return [f"**{code(node)}** · limits gradients", *told_lines(remarks), *told_lines(more)]


def _clipped(probe: HoverProbe, pasts: Sequence[GradientHistory]) -> str:
    """What should be known of gradients that are clipped: their scale, or which pass or step they had before."""
    if any(map(_is_unclear, pasts)):
        return ""
    if any(past.scale is not None for past in pasts):
        return "they are still multiplied by the scale of the loss"
    if all(not past.fresh for past in pasts):
        return f"{_steps(probe, pasts)} has used them already"
    sources = listed(probe.at(one.point.node) for past in pasts for one in past.fresh)
    return f"they come from {sources}; no step has used them yet"
