"""The picture of a finding about gradients: which backward passes filled a ``.grad``, and what used or cleared it.

    backward, iteration 1 ── fills ──▶ .grad of `w` ◀── uses ── step, iteration 1
    backward, iteration 2 ── fills ──▶      ▲──────── uses ── step, iteration 2: the first one once more

All of it is in the history of the gradients as it was when the finding's event was published: nothing is drawn that
this does not hold. What was cleared after a step had used it is forgotten there, and not drawn.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from ..autograd import Facts, ProgramPoint
from ..autograd.events import training_step as training
from ..autograd.events.graph_walks import Event
from ..autograd.gradients.history import Clearing, GradientHistory, Group, Pass
from ..autograd.state import AutogradState, fresh_id
from ..recording.wording import number_of_leaves
from ..rules.support.story import code, tensor_names
from .model import DRAWN, SOON, Draft, Kind, Relation
from .subject import Subject

LATER = 2 * SOON


def of_gradients(event: Event, facts: Facts, state: AutogradState) -> Subject | None:
    """What an event says of gradients; None where it speaks of none."""
    drawn = Gradients(facts, state)
    match event:
        case training.OptimizerStepped(past=past):
            drawn.step(event, past)
        case training.GradientsClipped(past=past):
            drawn.happens("clip", event.point)
            drawn.groups(past, ("clip", event.point), "clips")
        case training.StepMissed(step=idle, leaves=leaves):
            run = drawn.last_pass(leaves)
            drawn.subject.moment("step", idle.point, (run.stamp if run is not None else fresh_id()) - LATER, True)
            drawn.missing(leaves, idle.point, "nothing has filled it yet: the step skips it")
            if run is not None:
                drawn.filled((run,), leaves, ["filled after the step"], False)
        case training.NeverReached(leaves=leaves):
            drawn.happens("step", event.point)
            drawn.missing(leaves, event.point, "no backward has filled it")
        case training.StepWithoutBackward(leaves=leaves, loss=loss):
            drawn.subject.roots, drawn.subject.hazards = [loss], {loss}
            drawn.happens("step", event.point)
            drawn.missing(leaves, event.point, "no backward has filled it")
        case _:
            return None
    return drawn.subject if drawn.subject.drafts else None


class Gradients:
    """The picture in the making."""

    def __init__(self, facts: Facts, state: AutogradState) -> None:
        self.facts, self.state, self.subject = facts, state, Subject(state)
        self.drafts = self.subject.drafts

    def step(self, event: training.OptimizerStepped, past: Iterable[Group]) -> None:
        """A step, with all that it found and what it should have found."""
        self.happens("step", event.point)
        foreign = {run for run, _ in event.leaked}
        self.groups(past, ("step", event.point), "uses", foreign)
        for clearing, run in event.lost[-DRAWN.clearings :]:
            self.lost(clearing, run.leaves)
        for run, point in event.leaked[:1]:
            use = self.state.consumed_passes.get(run)
            stamp = use.stamp if use is not None and use.step == point else run.stamp + LATER
            self.subject.moment("step", point, stamp, False, ["uses only what its own parameters got"])

    def groups(
        self, past: Iterable[Group], now: Hashable, how: Relation, foreign: frozenset[Pass] | set[Pass] = frozenset()
    ) -> None:
        found = [group for group in past if group[0].passes or group[0].clearings or group[0].idle is not None]
        # Those that the finding is about come first: what was used and is there still, what was lost.
        found.sort(key=lambda group: not (group[0].stale and group[0].fresh or group[0].clearings))
        for history, leaves in found[: DRAWN.groups]:
            self.group(history, leaves, now, how, foreign)
        if len(found) > DRAWN.groups:
            rest = sum(len(leaves) for _, leaves in found[DRAWN.groups :])
            self.subject.notes.append(f"the gradients of {rest} more parameters are not drawn")

    def group(
        self, past: GradientHistory, leaves: tuple[int, ...], now: Hashable, how: Relation, foreign: Iterable[Pass]
    ) -> None:
        """What some leaves with the same past hold now, and what they have lost since the last step."""
        for clearing in past.clearings[-DRAWN.clearings :]:
            self.lost(clearing, leaves)
        if not past.passes:
            point = self.drafts[now].point
            if past.clearings and point is not None:
                self.missing(leaves, point, "there is none: it was cleared")
            return
        others = {*foreign} & {*past.passes}
        is_mixed = bool(past.stale and past.fresh)
        marked = {*past.stale} if is_mixed else others
        grad = self.filled(past.passes, leaves, _held(past, len(others)), is_mixed or bool(others), marked)
        self.used(past, grad)
        self.subject.arrow(now, grad, how, is_mixed or bool(others) or how == "clips")

    def used(self, past: GradientHistory, grad: Hashable) -> None:
        """The steps that have used a gradient already, and its clipping."""
        for run in past.stale:
            use = self.state.consumed_passes.get(run)
            if use is not None and use.step is not None:
                self.subject.moment("step", use.step, use.stamp, False)
                self.subject.arrow(("step", use.step), grad, "uses", False)
        if past.clip is not None:
            self.subject.moment("clip", past.clip.point, past.passes[-1].stamp + SOON, False)
            self.subject.arrow(("clip", past.clip.point), grad, "clips", False)
        if past.early is not None and past.fresh:
            details = ["there is no gradient yet to clip"]
            self.subject.moment("clip", past.early, past.fresh[0].stamp - LATER, True, details)

    def lost(self, clearing: Clearing, leaves: tuple[int, ...]) -> None:
        """Gradients that went before a step had used them."""
        details = ["lost: cleared before a step has used it"]
        grad = self.filled(clearing.passes, leaves, details, True, {*clearing.passes})
        self.subject.moment("clear", clearing.point, clearing.passes[-1].stamp + LATER, True)
        self.subject.arrow(("clear", clearing.point), grad, "clears", True)

    def filled(
        self,
        passes: tuple[Pass, ...],
        leaves: tuple[int, ...],
        details: list[str],
        is_marked: bool,
        marked: Iterable[Pass] = (),
    ) -> Hashable:
        """A ``.grad``, after the last pass that filled it."""
        key = ("grad", passes, leaves)
        point, stamp = passes[-1].point, passes[-1].stamp + SOON
        self.drafts.setdefault(key, Draft("grad", self.title(leaves), details, point, stamp, is_marked))
        for run in passes:
            filler = ("pass", run.point, run.root)
            reached = f"fills .grad of {number_of_leaves(len(run.leaves))}"
            self.drafts.setdefault(filler, Draft("pass", code(run.point.node), [reached], run.point, run.stamp))
            self.drafts[filler].is_marked |= run in {*marked}
            self.subject.arrow(filler, key, "fills", run in {*marked})
        return key

    def missing(self, leaves: tuple[int, ...], point: ProgramPoint, why: str) -> None:
        """A ``.grad`` that a step looks for and that is not there."""
        key = ("missing", point, leaves)
        stamp = self.drafts["step", point].stamp - SOON
        self.drafts[key] = Draft("grad", self.title(leaves), [why], point, stamp, True)
        self.subject.arrow(("step", point), key, "needs", True)

    def happens(self, kind: Kind, point: ProgramPoint) -> None:
        """The step or clipping at which the finding's event was published: the last thing that happened."""
        self.subject.moment(kind, point, fresh_id(), True)

    def last_pass(self, leaves: tuple[int, ...]) -> Pass | None:
        """The last pass that has filled some leaves, as the path knows it."""
        pasts = [self.state.history[key] for key in leaves if key in self.state.history]
        runs = [past.passes[-1] for past in pasts if past.passes]
        return max(runs, key=lambda run: run.stamp, default=None)

    def title(self, leaves: Iterable[int]) -> str:
        return f".grad of {tensor_names(self.facts, leaves)}"


def _held(past: GradientHistory, foreign: int) -> list[str]:
    """What a gradient is the sum of; ``foreign`` counts the passes of another network's loss."""
    count = len(past.passes)
    found = [f"the sum of {count} backward passes" if count > 1 else "of one backward pass"]
    if past.stale:
        found.append(f"a step has used {'all' if not past.fresh else len(past.stale)} of that already")
    if foreign:
        found.append(f"{foreign} of them {'is' if foreign == 1 else 'are'} of another network's loss")
    return found
