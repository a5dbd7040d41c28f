"""The life of a tensor: what it is, what keeps a gradient, who saved it, what frees its graph, where laps differ."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..autograd import Cut, CutReason, Node, ProgramPoint, SavedTensor, Tensor
from ..autograd.events.graph_walks import BackwardRan, FreedGraphReached, SavedTensorModified
from ..recording import Recording, Sight
from ..recording.record import leaves_behind
from ..recording.wording import (
    by_lap,
    conversion,
    grad_fn,
    is_conversion,
    laps_of,
    listed,
    tensors,
    unit,
)
from ..rules.support.story import code, tensor_name
from ..rules.support.walked_twice import unit as unit_of_lap
from .write_facts import unsure

CUTS = {
    CutReason.NO_GRAD: "computed under `torch.no_grad()` ({line}): nothing there is recorded",
    CutReason.DETACH: "`detach()` ({line}) cut it off: nothing behind it gets a gradient from this side. "
    "The memory is shared, so an in-place write still counts for both",
    CutReason.DATA: "`.data` ({line}) gives the values without their history; autograd does not notice writes through "
    "it",
    CutReason.CREATE_GRAPH: "a gradient that was computed without `create_graph=True` ({line}): it has no graph",
    CutReason.LINEAR: "the gradient of something linear ({line}), which depends on nothing",
    CutReason.INFERENCE_MODE: "computed under `torch.inference_mode()` ({line}): nothing there is recorded",
    **dict.fromkeys(
        (CutReason.LOSSES, CutReason.TENSOR_LIST),
        "made ({line}) of the numbers in a list, without the graphs of its tensors",
    ),
    CutReason.NUMPY: "computed by NumPy ({line}), which autograd does not see",
    CutReason.NUMBER: "computed from a number ({line}), which has no history",
    CutReason.NUMBERS: "computed from numbers ({line}), which have no history",
    CutReason.NUMBER_LIST: "made of numbers in a list ({line}), which have no history",
}


def describe(record: Recording, node: ast.AST, sights: Sequence[Sight]) -> list[str]:
    """The lines about an expression whose values were tensors; the first is the headline."""
    last = max(sights, key=lambda s: laps_of(s.point))
    if any(last.names):
        return several(record, node, last)
    tensor = last.tensors[0]
    subject = name_of(record, node, tensor)
    lines = [f"**{code(node)}** · {headline(record, tensor)}"]
    if tensor.requires_grad is None or tensor.grad_fn is not None and not tensor.grad_fn.certain:
        lines += saved(record, sights, subject)
    elif tensor.grad_fn is not None:
        kept = [] if is_conversion(tensor.grad_fn.created_at.node) else gradient(record, tensor, subject)
        lines += kept + saved(record, sights, subject) + freed(record, sights)
    elif tensor.requires_grad:
        lines += leaf(record, last, sights) + saved(record, sights, subject)
    else:
        lines += plain(record, tensor) + saved(record, sights, subject)
    lines += view(record, tensor) + differences(record, sights)
    return lines


def name_of(record: Recording, node: ast.AST, tensor: Tensor) -> str:
    if isinstance(node, (ast.Name, ast.Attribute)):
        return code(node)
    return tensor_name(record.facts, tensor.id) or "it"


def headline(record: Recording, tensor: Tensor) -> str:
    """``not a leaf · requires_grad=True · grad_fn=SigmoidBackward0 (line 3)``."""
    node = tensor.grad_fn
    if tensor.requires_grad is None or node is not None and not node.certain:
        return "a tensor; whether it requires grad is not known here"
    if tensor.view == "no_grad" and node is None:
        return "a view made under `torch.no_grad()`: no operation leads back to its base"
    if node is None:
        same = (
            ", unless a conversion made a copy of it" if tensor.requires_grad and tensor.id in record.converted else ""
        )
        return f"{'parameter, ' if tensor.parameter else ''}leaf{same} · requires_grad={tensor.requires_grad}"
    if method := conversion(node.created_at.node):
        return f"not a leaf if `.{method}()` had to make a copy, otherwise the very same tensor · requires_grad=True"
    if node.assumption:
        return f"assumed to depend on what {code(node.created_at.node)} ({record.line(node.created_at.node)}) was given"
    name = "" if tensor.id in record.converted else grad_fn(node)
    made = f"grad_fn={name} ({record.line(node.created_at.node)})" if name else f"made by {record.made_by(node)}"
    return f"not a leaf · requires_grad=True · {made}"


def several(record: Recording, node: ast.AST, seen: Sight) -> list[str]:
    count = f"{len(seen.tensors)} tensors" if len(seen.tensors) > 1 else "a tensor and what is none"
    lines = [f"**{code(node)}** · {count}"]
    for index, tensor in enumerate(seen.tensors[:4]):
        lines.append(f"- `{seen.names[index]}`: {headline(record, tensor)}")
    return lines


def gradient(record: Recording, tensor: Tensor, subject: str) -> list[str]:
    leaves = leaves_behind(tensor.grad_fn)
    onward = f"; gradients flow through it to {tensors(record.facts, leaves)}" if leaves else ""
    if tensor.id in record.retained:
        return [f"- `retain_grad()` lets it keep a `.grad`, which only leaves do by default{onward}"]
    bare = subject.strip("`")
    hint = f" (`{bare}.retain_grad()` would keep it)" if bare.isidentifier() and bare != "it" else ""
    return [f"- `.grad` stays None, only leaves keep one{hint}{onward}"]


def leaf(record: Recording, last: Sight, sights: Sequence[Sight]) -> list[str]:
    keys = {s.tensors[0].id for s in sights}
    adding = [event for event in record.backwards if keys.intersection(event.reached) and event.accumulates]
    if not adding:
        return ["- a leaf keeps its gradient in `.grad`, but no backward that is seen here reaches it"]
    calls = {record.at(event.point.node): None for event in adding}
    text = f"- {listed(calls)} {'adds' if len(calls) == 1 else 'add'} its gradient to `.grad`"
    return [f"{text}, which holds one here already" if last.tensors[0].id in last.grads else text]


def plain(record: Recording, tensor: Tensor) -> list[str]:
    cut = record.facts.provenance_of(tensor.id).cut
    return [f"- {why_cut(record, cut)}" if cut is not None else "- plain data: it has no graph and gets no gradient"]


def why_cut(record: Recording, cut: Cut) -> str:
    text = CUTS.get(cut.reason, "`{reason}` ({line}) gives a tensor without history")
    return text.format(line=record.line(cut.point.node), reason=cut.name.rpartition(".")[2])


def saved(record: Recording, sights: Sequence[Sight], subject: str) -> list[str]:
    """Who saved the tensor, and what an in-place write would do."""
    savers = _savers(record, sights)
    tensor = sights[-1].tensors[0]
    if not savers:
        is_safe = subject != "it" and _is_saved_by_nothing(record, tensor)
        return [f"- saved by nothing: writing {subject} in place is safe"] if is_safe else []
    nodes = [node for node, _ in savers]
    text = f"- {record.saved_by(savers)}"
    for trouble in record.troubles:
        if isinstance(trouble, SavedTensorModified) and trouble.node in nodes:
            writes_it, raises = record.at(trouble.write.point.node), record.at(trouble.point.node)
            return [f"{text}; {writes_it} writes it after that, so {raises} raises"]
    change = "changing" if tensor.is_leaf and tensor.requires_grad else "writing"
    return _spoiled(record, savers, f"{change} {subject} in place")


def _spoiled(record: Recording, savers: Sequence[tuple[Node, SavedTensor]], write: str) -> list[str]:
    """What a ``write`` would do to the first backward that needs what the savers have, and to later ones."""
    later = f"{write} after that makes a backward through it raise"
    run = next((event for node, _ in savers for event in record.ran(node)), None)
    if run is None:
        return [f"- {record.saved_by(savers)}: {later}"]
    mine = [(node, item) for node, item in savers if _is_run_at(record, node, run.point.node)]
    others = [pair for pair in savers if pair not in mine]
    where = f"{write} between that and {record.at(run.point.node)} makes the backward raise"
    saved = [f"- {record.saved_by(mine)}: {where}"]
    is_more = others and record.saved_by(others) != record.saved_by(mine)
    return [*saved, f"- {record.saved_by(others)}, too: {later}"] if is_more else saved


def _is_run_at(record: Recording, node: Node, place: ast.AST) -> bool:
    return any(event.point.node is place for event in record.ran(node))


def _savers(record: Recording, sights: Sequence[Sight]) -> list[tuple[Node, SavedTensor]]:
    """Every operation that saved one of the tensors that were seen, with the record of it."""
    seen = {s.tensors[0].id: s.tensors[0] for s in sights}.values()
    return [
        (node, item)
        for tensor in seen
        for node, item in record.savers(tensor.version_counter)
        if item.tensor == tensor.id
    ]


def _is_saved_by_nothing(record: Recording, tensor: Tensor) -> bool:
    """Whether it is certain that no operation saved a tensor which is not a leaf and shares no memory."""
    if tensor.grad_fn is None or tensor.base is not None or not tensor.requires_grad or tensor.id in record.converted:
        return False
    return not record.savers(tensor.version_counter) and not unsure(record, tensor)


@dataclass(slots=True)
class GraphUse:
    """Which calls ran through the graphs of an expression's tensors and kept them, and which freed them.

    ``certainly_kept`` says that each of the former keeps all of it, ``own_iteration`` that a graph is freed in
    the iteration that built it, ``in_loop`` that there are iterations.
    """

    keeping: dict[ast.AST, None] = field(default_factory=dict)
    freeing: dict[ast.AST, None] = field(default_factory=dict)
    certainly_kept: bool = True
    own_iteration: bool = True
    in_loop: bool = False

    def add(self, seen: Sight, passes: list[BackwardRan]) -> None:
        """Count the passes through the graph of one sight, up to the first that frees it."""
        final = next((event for event in passes if event.frees), None)
        for event in passes[: passes.index(final)] if final else passes:
            self.keeping[event.point.node] = None
            self.certainly_kept = self.certainly_kept and event.retains
        if final is not None:
            self.freeing[final.point.node] = None
            self.in_loop = self.in_loop or bool(seen.point.iterations)
        self.own_iteration = (
            self.own_iteration and final is not None and final.point.iterations == seen.point.iterations
        )

    def phrases(self, record: Recording) -> Iterator[str]:
        """What keeps the graph, then what frees it."""
        if self.keeping:
            runs, keeps = ("runs", "keeps") if len(self.keeping) == 1 else ("run", "keep")
            keeps = keeps if self.certainly_kept else "may keep"
            yield f"{listed(map(record.at, self.keeping))} {runs} through its graph and {keeps} it"
        if self.freeing:
            frees = "frees" if len(self.freeing) == 1 else "free"
            each = ", in each iteration" if self.own_iteration and self.in_loop else ""
            then, what = ("then ", "it") if self.keeping else ("", "its graph")
            yield f"{then}{listed(map(record.at, self.freeing))} {frees} {what}{each}"


def freed(record: Recording, sights: Sequence[Sight]) -> list[str]:
    """When what the graph keeps is let go."""
    use = GraphUse()
    for seen in sights:
        node = seen.tensors[0].grad_fn
        if node is not None:
            use.add(seen, list(record.ran(node)))
    parts = list(use.phrases(record))
    again = reached_again(record, sights)
    if again is not None:
        iterations = laps_of(again.point)
        when = (
            f"in {unit(again.point)} {iterations[-1]}"
            if again.point.node in use.freeing and iterations
            else "after that"
        )
        parts.append(f"{record.at(again.point.node)} reaches it again {when} and raises")
    if parts:
        return [f"- {'; '.join(parts)}"]
    own = {seen.tensors[0].grad_fn for seen in sights}
    if any(not own.isdisjoint(getattr(trouble, "path", ())) for trouble in record.troubles):
        return []
    return ["- no backward that is seen here runs through its graph: it is kept as long as the tensor is"]


def reached_again(record: Recording, sights: Sequence[Sight]) -> FreedGraphReached | None:
    own = {s.tensors[0].grad_fn for s in sights}
    for trouble in record.troubles:
        if isinstance(trouble, FreedGraphReached) and own.intersection(
            trouble.path[trouble.path.index(trouble.shared) :]
        ):
            return trouble
    return None


def view(record: Recording, tensor: Tensor) -> list[str]:
    base = tensor_name(record.facts, tensor.base) if tensor.base is not None else None
    return [f"- a view of {base}: they share memory, and an in-place write to one counts for both"] if base else []


def differences(record: Recording, sights: Sequence[Sight]) -> list[str]:
    remarks: list[tuple[ProgramPoint, str]] = []
    carrying = any(seen.carried is not None for seen in sights)
    for seen in sights:
        tensor = seen.tensors[0]
        if tensor.grad_fn is None:
            text = "a leaf that requires grad" if tensor.requires_grad else "no graph"
        else:
            text = "only its own graph" if carrying else headline(record, tensor).rpartition(" · ")[2]
        if seen.carried is not None:
            past = seen.carried.lap
            now = next((lap.number for lap in seen.point.iterations if lap.run == past.run), past.number)
            kind = unit_of_lap(past)
            where = f"the {kind} before" if now - past.number == 1 else f"{kind} {past.number}"
            text = f"carries the graph of {where}"
            if seen.carried.freed is not None:
                text += f", freed by {record.at(seen.carried.freed.point.node)}"
        remarks.append((seen.point, text))
    text = by_lap(remarks)
    return [f"- {text}"] if text else []
