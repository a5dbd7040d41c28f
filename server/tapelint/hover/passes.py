"""What a backward pass does here: what it frees or keeps, who comes back for that, whose gradient it fills.

m.sum().backward(retain_graph=True)   # keeps what `pow` saved; n.sum().backward() comes back for it
n.sum().backward()                    # frees it, and adds to the gradient that is there
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ..autograd import Node, ProgramPoint
from ..autograd.events.graph_walks import BackwardRan, FreedGraphReached, SavedTensorModified
from ..autograd.model.program_point import earlier_iteration
from ..headline import number_of
from ..recording import Recording
from ..recording.call_runs import CallRun
from ..recording.wording import laps_of, lines_by_lap, listed, op_name
from ..recording.wording import tensors as names
from ..rules.support.story import code

Remarks = list[tuple[ProgramPoint, str]]


def describe(record: Recording, node: ast.Call) -> list[str] | None:
    """The lines about a call that runs backward; None where it never came to that."""
    passes = [event for event in record.backwards if event.point.node is node]
    last = max(passes, key=lambda event: laps_of(event.point))
    if not last.ran and not last.reached:
        return None
    known = is_known(last)
    operations = number_of(len(last.ran), "operation") if known else "the operations of its graph"
    return [
        f"**{code(node)}** · runs {operations} backward",
        *keeping(record, last),
        *gains(record, node, passes),
    ]


def is_known(event: BackwardRan) -> bool:
    return all(item.certain and not item.assumption for item in event.ran)


def keeping(record: Recording, event: BackwardRan) -> list[str]:
    """What becomes of what the operations had saved."""
    savers = [item for item in event.ran if item.saves_anything]
    if is_known(event) and not savers:
        return ["- none of them saved anything: the same graph may be walked again"]
    saved = f"what {len(savers)} of them saved ({operations(record, savers)})" if is_known(event) else "what they saved"
    if not event.frees:
        verb = "keeps" if event.retains else "may keep"
        return [f"- {verb} {saved}: it stays in memory until a backward frees it, or the tensors are gone"]
    again = [
        trouble
        for trouble in record.troubles
        if isinstance(trouble, FreedGraphReached) and trouble.freed.point.node is event.point.node
    ]
    if not again:
        return [f"- frees {saved}: a second backward through those raises"]
    who = again[0].point.node
    if who is event.point.node:
        return [f"- frees {saved}: when it reaches them again, in the next iteration, it raises"]
    return [f"- frees {saved}: {record.at(who)} reaches them again and raises"]


def operations(record: Recording, nodes: Iterable[Node]) -> str:
    """```pow` of line 3 and `mul` of line 4``, in the order of the program."""
    return listed(f"{op_name(n)} of {record.line(n.created_at.node)}" for n in sorted(nodes, key=lambda n: n.id))


def gains(record: Recording, node: ast.Call, passes: list[BackwardRan]) -> list[str]:
    """Which leaves get gradients, each for the first time or on top of what is there."""
    runs = [(run, event) for run in record.runs.get(node, ()) for event in record.passes(run)]
    if not runs:
        return lines_by_lap((event.point, plainly(record, event)) for event in passes)
    lines = lines_by_lap((run.point, gain(record, run, event)) for run, event in runs)
    return lines + lines_by_lap((run.point, used_before(record, run, event)) for run, event in runs)


def plainly(record: Recording, event: BackwardRan) -> str:
    if not event.accumulates:
        return "returns gradients; `.grad` of the leaves is left alone"
    return f"adds to `.grad` of {names(record.facts, event.reached)}" if event.reached else "no leaf gets a gradient"


def gain(record: Recording, run: CallRun, event: BackwardRan) -> str:
    if not event.accumulates:
        return returned(record, run)
    if not event.reached:
        return "no leaf gets a gradient"
    # An optimizer that came as an argument clears networks that did as well: what they hold then is not known.
    handed = [
        key
        for key in event.reached
        if record.facts.networks.handed_optimizers and key in record.facts.networks.handed_leaves
    ]
    known = [key for key in event.reached if key not in handed]
    first = [key for key in known if key not in run.before.grads]
    more = [key for key in known if key in run.before.grads]
    parts = [f"adds to `.grad` of {names(record.facts, handed)}"] if handed else []
    parts += [f"fills `.grad` of {names(record.facts, first)}, which was None"] if first else []
    return "; ".join([*parts, *([adding(record, run, event, more)] if more else [])])


def adding(record: Recording, run: CallRun, event: BackwardRan, leaves: list[int]) -> str:
    """That gradients are added to what some ``leaves`` hold, and where that is from."""
    past = dict.fromkeys(one.point.node for key in leaves for one in run.before.past(key).passes)
    what = "what it added in earlier iterations"
    if any(node is not event.point.node for node in past):
        what = "what " + listed(record.at(node) for node in past) + " added"
    there = f" on top of {what}" if past else ""
    return f"{_adding(run, leaves)} `.grad` of {names(record.facts, leaves)}{there}"


def _adding(run: CallRun, leaves: list[int]) -> str:
    """A pass that may have raised may have left ``.grad`` as it was; what the program assigns itself is there."""
    pasts = [run.before.past(key) for key in leaves]
    return "may add to" if any(past.doubt and past.passes for past in pasts) else "adds to"


def used_before(record: Recording, run: CallRun, event: BackwardRan) -> str:
    """The steps that have used what the gradients held already."""
    pasts = [run.before.past(key) for key in event.reached if key in run.before.grads and event.accumulates]
    steps = dict.fromkeys(past.step.node for past in pasts if past.used and past.step and not past.doubt)
    if not steps or any(past.perhaps for past in pasts):
        return ""
    return f"{listed(record.at(node) for node in steps)} has used that before, and the next step uses it again"


def returned(record: Recording, run: CallRun) -> str:
    """``autograd.grad``: nothing is accumulated."""
    keys = run.argument(1, "inputs")
    of = f" for {names(record.facts, keys)}" if keys else ""
    graphs = [tensor for tensor in run.results if tensor.requires_grad]
    own = ", with a graph of its own: it can be differentiated again" if graphs else ""
    return f"returns the gradient{'s' * (len(keys) > 1)}{of}{own}; `.grad` of the leaves is left alone"


def retained(record: Recording, keyword: ast.keyword, node: ast.Call) -> list[str] | None:
    """The lines about ``retain_graph=`` or ``create_graph=`` in a call that ran backward."""
    runs = [(run, event) for run in record.runs.get(node, ()) for event in record.passes(run)]
    if not runs:
        return None
    last = max(runs, key=lambda pair: laps_of(pair[1].point))[1]
    head = f"**{code(keyword)}** · "
    if keyword.arg == "create_graph" and last.retains:
        return [
            head + "records how the gradients are computed",
            *recorded(record, runs),
            *kept(record, runs, True),
        ]
    if last.frees:
        return [head + "frees the graph, as without it", *keeping(record, last)]
    if not last.retains:
        return [head + "whether the graph is kept is not known here"]
    return [head + "the graph is not freed by this pass", *kept(record, runs)]


def kept(record: Recording, runs: list[tuple[CallRun, BackwardRan]], recorded: bool = False) -> list[str]:
    """What is retained, and who comes back for it; of use even without that where the pass was ``recorded``."""
    last = max(runs, key=lambda pair: laps_of(pair[1].point))[1]
    savers = [item for item in last.ran if item.saves_anything]
    if is_known(last) and not savers:
        return ["- no operation saved anything: the graph may be walked again without it"]
    what = f"what was saved: {operations(record, savers)}" if is_known(last) else "what the operations saved"
    lines = [f"- keeps {what}"]
    return lines + lines_by_lap(_returns(record, runs, recorded))


def _returns(record: Recording, runs: list[tuple[CallRun, BackwardRan]], recorded: bool) -> Remarks:
    """Which pass comes back for what each run retains; that none does only where it is certain and of interest."""
    remarks = [(run.point, back(record, event)) for run, event in runs]
    without = [point for point, text in remarks if not text]
    # What the last iteration retains, one that was not executed may come back for.
    if recorded or all(_may_go_on(point, remarks) for point in without):
        return remarks
    return [(point, text or "no backward that is seen here comes back for it") for point, text in remarks]


def _may_go_on(point: ProgramPoint, remarks: Remarks) -> bool:
    """Whether ``point`` is the last iteration of those seen, and an earlier one's graph was walked again."""
    return any(text and earlier_iteration(other, point) is not None for other, text in remarks)


def back(record: Recording, event: BackwardRan) -> str:
    """Who walks again what a pass retained."""
    mine = {item for item in event.ran if item.saves_anything}
    later = record.backwards[record.backwards.index(event) + 1 :]
    for other in later:
        if not mine.isdisjoint(other.ran):
            return f"{who(record, event, other.point)} comes back for it" + (" and frees it" if other.frees else "")
    for trouble in record.troubles:
        if isinstance(trouble, SavedTensorModified) and trouble.node in mine and trouble.point != event.point:
            return (
                f"{who(record, event, trouble.point)} comes back for it and raises: "
                f"{record.at(trouble.write.point.node)} wrote what was saved"
            )
    return ""


def who(record: Recording, event: BackwardRan, point: ProgramPoint) -> str:
    return "this call itself, in the next iteration," if point.node is event.point.node else record.at(point.node)


def through(record: Recording, run: CallRun) -> str:
    """Who goes backward through the gradients that a call returned."""
    made = {tensor.grad_fn for tensor in run.results}
    users = listed(record.at(event.point.node) for event in record.backwards if made.intersection(event.ran))
    return f": {users} goes backward through it" if users else ", which no backward goes through that is seen here"


def recorded(record: Recording, runs: list[tuple[CallRun, BackwardRan]]) -> list[str]:
    """What ``create_graph=True`` gives, and what it ties into a cycle."""
    return lines_by_lap((run.point, _created(record, run, event)) for run, event in runs)


def _created(record: Recording, run: CallRun, event: BackwardRan) -> str:
    """The graph of gradients that one run gives."""
    if not event.accumulates:
        if any(tensor.requires_grad for tensor in run.results):
            return f"the gradient has a graph of its own{through(record, run)}"
        is_plain = any(tensor.requires_grad is False for tensor in run.results)
        return "the gradient depends on nothing that requires grad: it has no graph even so" if is_plain else ""
    held = [key for key in event.reached if key in run.after.cycles]
    if held:
        cycle = f"{names(record.facts, held)} and its `.grad` now hold each other"
        return f"{cycle}: nothing of that is freed before `.grad` is cleared"
    return f"`.grad` of {names(record.facts, event.reached)} may have a graph of its own" if event.reached else ""
