"""What the calls of a training step do here: ``zero_grad``, ``clip_grad_norm_``, ``step``.

opt.zero_grad()    # which gradients it clears, and whether any code had used them
opt.step()         # which parameters it writes, and whose saved tensors that spoils
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from ..autograd import ProgramPoint, Write
from ..autograd.events.graph_walks import BackwardRan, SavedTensorModified
from ..autograd.events.training_step import GradientsClipped, OptimizerStepped
from ..autograd.gradients.history import GradientHistory
from ..domain.values import External
from ..recording import Recording
from ..recording.call_runs import CallRun
from ..recording.wording import lines_by_lap, listed, tensors
from ..rules.support.story import code
from .passes import operations
from .write_facts import unseen


def step(record: Recording, node: ast.Call, runs: Sequence[CallRun]) -> list[str] | None:
    remarks: list[tuple[ProgramPoint, str]] = []
    used: list[tuple[ProgramPoint, str]] = []
    for run in runs:
        before = run.before
        held = [key for key in before.owned if key in before.grads]
        written = held if before.fused else list(dict.fromkeys([*held, *(w.tensor for w in run.writes)]))
        idle = [key for key in before.owned if key not in written]
        if not written:
            if not before.is_partial and idle:
                remarks.append((run.point, f"updates nothing: {without(record, idle)}"))
            continue
        rest = f"; {without(record, idle)}: unchanged" if idle else ""
        remarks.append((run.point, f"updates {tensors(record.facts, written)} in place{rest}"))
        used.append((run.point, uses(record, run, held)))
    if not remarks:
        return None
    lines = [f"**{code(node)}** · writes parameters in place", *lines_by_lap(remarks)]
    return [*lines, *lines_by_lap(used), *lines_by_lap((run.point, _spoils(record, run)) for run in runs)]


def without(record: Recording, keys: Sequence[int]) -> str:
    return f"{tensors(record.facts, keys)} {'has' if len(keys) == 1 else 'have'} no `.grad`"


def uses(record: Recording, run: CallRun, keys: Sequence[int]) -> str:
    """Which backward passes the gradients come from."""
    pasts = [past for key in keys if (past := run.before.past(key)).passes and not past.doubt]
    sources = dict.fromkeys(one.point.node for past in pasts for one in past.passes)
    if not sources:
        return ""
    text = f"with the gradients of {listed(record.at(node) for node in sources)}"
    if any(past.used and not past.perhaps for past in pasts):
        text += ", a part of which a step has used before: they were not cleared since"
    return text


def _spoils(record: Recording, run: CallRun) -> str:
    """Whose saved tensors an update changes."""
    if run.writes:
        return spoiled(record, run, run.writes)
    return "a fused optimizer: the version counters do not count these writes" if run.before.fused else ""


def spoiled(record: Recording, run: CallRun, writes: Sequence[Write]) -> str:
    counters = {run.before.owned[w.tensor].version_counter for w in writes if w.tensor in run.before.owned}
    if raised := _raised_by(record, writes):
        return raised
    first = min(write.stamp for write in writes)
    alive = {
        node
        for counter in counters
        for node, _ in record.savers(counter)
        if node.id < first
        and node.certain
        and node not in run.after.freed
        and not any(event.frees for event in record.ran(node))  # then it is a node of another path
    }
    if alive:
        saved = operations(record, alive)
        return f"changes what {saved} saved: a backward through that from here on raises{unseen(record, alive)}"
    return "no graph that is seen here, and not freed, has saved them: nothing is spoiled"


def _raised_by(record: Recording, writes: Sequence[Write]) -> str:
    """Which backward raises because of one of the writes; empty if none does."""
    for trouble in record.troubles:
        if isinstance(trouble, SavedTensorModified) and trouble.write in writes:
            saved, needs_it = operations(record, [trouble.node]), record.at(trouble.point.node)
            return f"**spoils** what {saved} saved: {needs_it} needs it and raises"
    return ""


def _adders(record: Recording, runs: Sequence[CallRun]) -> str:
    """The backwards that come after a call and fill what it clears."""
    own = {key for run in runs for key in run.before.owned}
    later = record.events[min(run.after.heard for run in runs) :]
    passes = (event for event in later if isinstance(event, BackwardRan))
    return listed(record.at(e.point.node) for e in passes if e.accumulates and own.intersection(e.reached))


def zero_grad(record: Recording, node: ast.Call, runs: Sequence[CallRun]) -> list[str] | None:
    """Which gradients a call clears, and whether a step had used them."""
    cleared = lines_by_lap((run.point, _cleared(record, run)) for run in runs)
    if not cleared:
        return None
    fate = lines_by_lap((run.point, used(record, run, held)) for run in runs if (held := _held(run)))
    lines = [f"**{code(node)}** · clears `.grad`", *cleared, *fate]
    if adders := _adders(record, runs):
        lines.append(f"- without it {adders} would add to the gradients that are there")
    return lines


def _held(run: CallRun) -> list[int]:
    """The tensors of the optimizer or module that have a ``.grad`` when the call begins."""
    return [key for key in run.before.owned if key in run.before.grads]


def _cleared(record: Recording, run: CallRun) -> str:
    """What one run of ``zero_grad`` does; empty where its tensors are not known."""
    held = _held(run)
    if held:
        verb = "sets to zero" if any(key in run.after.grads for key in held) else "drops"
        return f"{verb} the gradients of {tensors(record.facts, held)}"
    if run.before.is_partial or not run.before.owned:
        return ""
    never = all(run.before.past(key).never for key in run.before.owned)
    return "finds no gradient yet" if never else "finds no gradient to drop"


def _is_unclear(past: GradientHistory) -> bool:
    """Whether it is not certain where a gradient comes from."""
    return past.doubt or past.perhaps or not past.passes


def _steps(record: Recording, pasts: Iterable[GradientHistory]) -> str:
    """The optimizer steps that last used some gradients."""
    return listed(record.at(past.step.node) for past in pasts if past.step is not None)


def used(record: Recording, run: CallRun, keys: Sequence[int]) -> str:
    """What had become of the gradients that go."""
    pasts = [run.before.past(key) for key in keys]
    if any(map(_is_unclear, pasts)):
        return ""
    if all(not past.fresh for past in pasts):
        return f"{_steps(record, pasts)} has used them"
    lost = dict.fromkeys(one for past in pasts for one in past.fresh)
    untouched = all(not past.used and past.fresh for past in pasts)
    if untouched and not any(one in run.before.spent for one in lost):
        sources = listed(record.at(one.point.node) for one in lost)
        return f"no step has used them: what {sources} computed is lost"
    return ""


def clip(record: Recording, node: ast.Call, runs: Sequence[CallRun]) -> list[str] | None:
    """``clip_grad_norm_`` and ``clip_grad_value_``; None where it is another function of such a name."""
    found = [(run, event) for run in runs for event in record.heard(run) if isinstance(event, GradientsClipped)]
    if not found:
        return None
    lines = [f"**{code(node)}** · limits gradients"]
    lines += lines_by_lap((run.point, _limited(record, run)) for run, _ in found)
    lines += lines_by_lap((run.point, _origin(record, run)) for run, _ in found)
    lines += _later_steps(record, found)
    writes = [write for run, _ in found for write in run.writes]
    if writes:
        lines.append("- writes gradients only: the parameters, and what graphs have saved of them, stay as they are")
    raised = _raised_by(record, writes)
    return [*lines, f"- {raised}"] if raised else lines


def _limited(record: Recording, run: CallRun) -> str:
    """Whose gradients one run of a clipping limits, and how."""
    given = run.argument(0, "parameters")
    held = [key for key in given if key in run.before.grads]
    idle = [key for key in given if key not in held]
    doubtful = any(run.before.past(key).doubt for key in idle)  # unknown code may have run a backward
    unseen = f"no `.grad` of {tensors(record.facts, idle)} is seen here" if idle and not doubtful else ""
    if not held:
        return f"{unseen}: there is none to limit" if unseen else "which gradients it finds is not known here"
    rest = f"; {unseen}" if unseen else ""
    if isinstance(run.callee, External) and run.callee.name.endswith("clip_grad_value_"):
        return f"clamps each element of `.grad` of {tensors(record.facts, held)} in place{rest}"
    whose = tensors(record.facts, held)
    return f"scales down `.grad` of {whose} in place by one factor, if the total norm is too large{rest}"


def _origin(record: Recording, run: CallRun) -> str:
    """Which passes the clipped gradients come from, and which step had used them before."""
    pasts = [run.before.past(key) for key in run.argument(0, "parameters") if key in run.before.grads]
    if not pasts or any(map(_is_unclear, pasts)):
        return ""
    if any(past.scale is not None for past in pasts):
        return "they are still multiplied by the scale of the loss"
    if all(not past.fresh for past in pasts):
        return f"{_steps(record, pasts)} has used them already"
    sources = listed(record.at(one.point.node) for past in pasts for one in past.fresh)
    stale = [past for past in pasts if past.used]
    if stale:
        return f"they come from {sources}, on top of gradients that {_steps(record, stale)} has used already"
    return f"they come from {sources}; no step that is seen here has used them yet"


def _later_steps(record: Recording, found: Sequence[tuple[CallRun, GradientsClipped]]) -> list[str]:
    """The steps that use the clipped gradients; none where a backward has added to them before."""
    places: dict[ast.AST, None] = {}
    always = True
    for run, clipped in found:
        users = [
            event
            for event in record.events[run.after.heard :]
            if isinstance(event, OptimizerStepped)
            and any(past.clip is not None and past.clip.point == run.point for past, _ in event.past)
        ]
        places.update(dict.fromkeys(event.point.node for event in users))
        always = always and any(not event.premises - clipped.premises for event in users)
    verb = ("uses" if len(places) == 1 else "use") if always else "may use"
    return [f"- {listed(map(record.at, places))} {verb} what is clipped here"] if places else []
