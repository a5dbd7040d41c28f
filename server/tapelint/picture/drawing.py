"""From the parts that matter to a picture: titles, columns, places and arrows."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Hashable, Iterable, Mapping

from ..autograd import Iteration, Leaf, Node, ProgramPoint, SavedTensor, Tensor, Write
from ..autograd.events.graph_walks import BackwardRan
from ..autograd.model.graph import BackwardPass
from ..autograd.model.graph_search import nodes_below
from ..headline import number_of
from ..recording import Recording, Walk
from ..recording.wording import grad_fn, number_of_leaves
from ..rules.support.story import code, moment, saved_name, tensor_name
from ..stubs import stub_module_name
from ..trace.graph_text import next_functions
from .model import DRAWN, Draft, Kind, Picture, PictureEdge, PictureNode, Relation, Spot
from .subject import Subject

HAPPENS: frozenset[Kind] = frozenset({"pass", "write", "step"})
"""The kinds of nodes that may be a step of a story."""


class Drawing:
    """One picture in the making."""

    def __init__(self, subject: Subject, record: Recording) -> None:
        self.subject, self.facts, self.files, self.state = subject, record.facts, record.files, subject.state
        self.drafts: dict[Hashable, Draft] = {}
        self.edges: dict[tuple[Hashable, Hashable, Relation], bool] = {}
        self.notes: list[str] = []
        self.selection = Selection(subject)
        # What stands for each node or leaf of the graph.
        self.shown: dict[Hashable, Hashable] = {item: item for item in self.selection.kept}
        self._fold()
        for item in self.selection.kept:
            self._leaf(item) if isinstance(item, Leaf) else self._operation(item)
        self._inputs()
        for tensor in subject.tensors:
            self._plain(tensor)
        self._cut()
        self._spoiled()
        self._passes(record.walks)
        self._steps()
        self._refused()
        for key, draft in subject.drafts.items():
            self._add(key, draft)
        self.notes += subject.notes
        for begin, end, relation, is_marked in subject.arrows:
            ends = self.shown.get(begin, begin), self.shown.get(end, end)
            if self.drafts.keys() >= {*ends}:
                self._edge(*ends, relation, is_marked)

    # Nodes of the graph

    def _fold(self) -> None:
        groups: dict[Hashable, list[Node | Leaf]] = {}
        for item in self.selection.rest:
            groups.setdefault(self._group(item), []).append(item)
        largest = sorted(groups, key=lambda key: -len(groups[key]))[: DRAWN.folded]
        merged: dict[Hashable, list[Node | Leaf]] = {}
        for key, items in groups.items():
            name = key if key in largest else "other operations"
            merged.setdefault(name, []).extend(items)
        for name, items in merged.items():
            nodes = [item for item in items if isinstance(item, Node)]
            what = "operations" if nodes else "leaves"
            of = f" of {name[1]}" if isinstance(name, tuple) and name[1] else ""
            first = min(nodes, key=lambda node: node.id) if nodes else None
            title = f"… {len(items)} {what}{of}"
            leaves = (item.tensor for item in items if isinstance(item, Leaf))
            stamp = first.id if first is not None else self.state.tensors[next(leaves)].id
            self.drafts["folded", name] = Draft(
                "folded", title, [], first.created_at if first is not None else None, stamp
            )
            self.notes.append(f"{len(items)} {what}{of} are not drawn one by one")
            self.shown.update(dict.fromkeys(items, ("folded", name)))

    def _group(self, item: Node | Leaf) -> Hashable:
        """What is folded together: what one call in one iteration has computed, and all leaves."""
        if isinstance(item, Leaf):
            return "leaves"
        calls = item.created_at.calls
        call = calls[0] if calls else None
        return item.created_at.iterations, code(call.func) if isinstance(call, ast.Call) else ""

    def _operation(self, node: Node) -> None:
        details = [code(node.created_at.node)]
        saved = [f"{each.role} at version {each.version}" for each in node.saved]
        if saved:
            details.append(f"saves {', '.join(saved[:4])}{' and more' if len(saved) > 4 else ''}")
        elif node.saves_anything:
            details.append("saves values")
        if node.assumption is not None:
            details.append(f"not followed: assumed for `{node.assumption}`")
        elif not node.certain:
            details.append("only if a tensor that is not known requires grad")
        names = [name for key in node.results if (name := tensor_name(self.facts, key)) is not None]
        title = _name(node) + (f" → {names[0]}" if names else "")
        is_certain = node.certain and node.assumption is None
        marked = node in self.subject.hazards
        self.drafts[node] = Draft("operation", title, details, node.created_at, node.id, marked, is_certain)

    def _leaf(self, leaf: Leaf) -> None:
        tensor = self.state.tensors.get(leaf.tensor)
        name = tensor_name(self.facts, leaf.tensor)
        if tensor is None:
            self.drafts[leaf] = Draft(
                "leaf", name or "without a name", ["not known"], None, leaf.tensor, is_certain=False
            )
            return
        details = [
            "nn.Parameter" if tensor.parameter else "leaf",
            f"version {self.state.version(tensor.version_counter)}",
        ]
        if tensor.requires_grad is None:
            details.append("requires grad: not known")
        if tensor.because:
            details.append(f"assumed: {tensor.because.words}")
        certain = tensor.requires_grad is not None and tensor.assumption is None
        marked = leaf in self.subject.hazards
        title = name or code(tensor.created_at.node)
        self.drafts[leaf] = Draft("leaf", title, details, tensor.created_at, tensor.id, marked, certain)

    def _plain(self, tensor: Tensor) -> None:
        needs = {True: "yes", False: "no", None: "not known"}[tensor.requires_grad]
        title = tensor_name(self.facts, tensor.id) or code(tensor.created_at.node)
        details = [f"requires grad: {needs}", "no grad_fn"]
        marked = self.subject.now is not None
        self.drafts["tensor", tensor.id] = Draft("tensor", title, details, tensor.created_at, tensor.id, marked)

    def _inputs(self) -> None:
        path = {*self.subject.path}
        for item, key in self.shown.items():
            for below in next_functions(item) if isinstance(item, Node) else ():
                other = self.shown.get(below)
                if other is not None and other != key:
                    self._edge(other, key, "input", item in path and below in path)

    # What happens to it

    def _cut(self) -> None:
        cut = self.subject.cut
        if cut is None:
            return
        stamp = max((tensor.id for tensor in self.subject.tensors), default=0)
        self.drafts["cut"] = Draft("cut", f"the graph ends: {cut.name}", [code(cut.point.node)], cut.point, stamp, True)
        if cut.source is not None and cut.source in self.shown:
            self._edge(self.shown[cut.source], "cut", "input", True)
        for tensor in self.subject.tensors:
            self._edge("cut", ("tensor", tensor.id), "input", True)

    def _spoiled(self) -> None:
        known = {(node, saved.role) for node, saved, _ in self.subject.spoiled}
        for node, saved, write in self.subject.spoiled:
            self._saved(node, saved, [write], True)
        for item in sorted((item for item in self.selection.kept if isinstance(item, Node)), key=lambda node: -node.id):
            for saved in item.saved if item not in self.state.freed else ():
                last = self.state.writes.get(saved.version_counter)
                if last is None or last.version == saved.version or (item, saved.role) in known:
                    continue
                if sum(draft.kind == "saved" for draft in self.drafts.values()) < DRAWN.saved:
                    since = [write for write in last.chain() if write.version > saved.version]
                    self._saved(item, saved, since[-2:], False)

    def _saved(self, node: Node, saved: SavedTensor, writes: list[Write], is_marked: bool) -> None:
        if node not in self.shown:
            return
        key = ("saved", node, saved.role)
        name = saved_name(self.facts, saved) or saved.role
        version = self.state.version(saved.version_counter)
        details = [f"{_name(node)} needs version {saved.version}", f"is at version {version}"]
        self.drafts[key] = Draft("saved", f"saved {name}", details, node.created_at, node.id, is_marked)
        self._edge(self.shown[node], key, "saves", is_marked)
        for write in writes:
            self._write(write, key, is_marked)

    def _write(self, write: Write, target: Hashable, is_marked: bool = False) -> None:
        key = ("write", write.op, write.point)
        if key not in self.drafts:
            if sum(draft.kind in ("write", "step") for draft in self.drafts.values()) >= DRAWN.writes and not is_marked:
                return
            kind: Kind = "step" if write.by_optimizer else "write"
            details = [code(write.point.node)]
            if write.because:
                details.append(f"assumed: {write.because.words}")
            self.drafts[key] = Draft(kind, write.op, details, write.point, write.stamp, False, write.certain)
        draft = self.drafts[key]
        if draft.kind == "write":
            note = f"version {write.version - 1} → {write.version}"
            draft.details += [note] if note not in draft.details else []
        draft.is_marked |= is_marked
        self._edge(key, target, "steps" if write.by_optimizer and not is_marked else "writes", is_marked)

    def _passes(self, walks: list[Walk]) -> None:
        now = self.subject.now
        runs = {walk.event.point: walk for walk in walks if not self.selection.kept.keys().isdisjoint(walk.event.ran)}
        known = {run.point: run for run in self.subject.passes}
        if now is not None:
            known[now.point] = now
        others = [point for point in runs if point not in known]
        last = max((draft.stamp for draft in self.drafts.values()), default=0)
        for point in others[: DRAWN.passes - len(known)]:
            self._pass(_ended(runs[point]), runs[point].event, runs[point].stamp, False)
        for point, run in known.items():
            walk = runs.get(point)
            newest = max((item.id for item in run.begin if isinstance(item, Node)), default=last)
            stamp = last + 1 if run is now else walk.stamp if walk is not None else newest
            self._pass(run, walk.event if walk is not None else None, stamp, True)

    def _pass(self, run: BackwardPass, ran: BackwardRan | None, stamp: float, is_marked: bool) -> None:
        key = ("pass", run.point)
        is_now = self.subject.now is not None and run.point == self.subject.now.point
        raises = is_now and self.subject.raises
        details = ["PyTorch raises here"] if raises else _done(run, ran) if ran is not None else []
        self.drafts[key] = Draft("pass", code(run.point.node), details, run.point, stamp, is_marked)
        for item in run.begin:
            if item in self.shown:
                self._edge(key, self.shown[item], "walks", is_now)
        if run.root is not None and ("tensor", run.root) in self.drafts:
            self._edge(key, ("tensor", run.root), "needs", is_now)
        for node in self.subject.hazards & self.shown.keys():
            by = self.state.freed.get(node) if isinstance(node, Node) else None
            if by is not None and by.point == run.point:
                self._edge(key, self.shown[node], "frees", True)
            if raises and isinstance(node, Node):
                self._edge(key, self.shown[node], "needs", True)

    def _steps(self) -> None:
        """What has written the leaves: the steps of an optimizer, or writes of the program."""
        for leaf in self.selection.kept:
            tensor = self.state.tensors.get(leaf.tensor) if isinstance(leaf, Leaf) else None
            last = self.state.writes.get(tensor.version_counter) if tensor is not None else None
            for write in [*last.chain()][:3] if last is not None else ():
                self._write(write, leaf)

    def _refused(self) -> None:
        for op, point, tensor in self.subject.written:
            last = max((draft.stamp for draft in self.drafts.values()), default=0)
            details = [code(point.node), *(["PyTorch raises here"] if self.subject.raises else [])]
            self.drafts["refused"] = Draft("write", op, details, point, last + 1, True)
            targets: list[Hashable] = [item for item in self.subject.hazards if item in self.shown]
            for target in targets or [("tensor", tensor)]:
                if target in self.drafts:
                    self._edge("refused", target, "writes", True)

    def _add(self, key: Hashable, draft: Draft) -> None:
        """What is no part of a graph; a pass or write that is drawn already gets the words of a story about it."""
        twins = (other for other, drawn in self.drafts.items() if drawn.kind in HAPPENS and drawn.point == draft.point)
        twin = next(twins, None) if draft.kind == "moment" else None
        if twin is None:
            self.drafts[key] = draft
            return
        self.shown[key] = twin
        self.drafts[twin].details[:0] = [draft.title] if draft.is_told else []
        self.drafts[twin].is_marked |= draft.is_marked

    def _edge(self, begin: Hashable, end: Hashable, relation: Relation, is_marked: bool = False) -> None:
        key = begin, end, relation
        self.edges[key] = self.edges.get(key, False) or is_marked

    # The picture

    def picture(self, title: str) -> Picture:
        """All of it, numbered column by column."""
        keys = self._columns()
        names = list(dict.fromkeys(keys[key] for key in sorted(keys, key=lambda key: keys[key][1])))
        ordered = sorted(self.drafts, key=lambda key: (names.index(keys[key]), self.drafts[key].stamp))
        numbers = {key: index for index, key in enumerate(ordered, 1)}
        nodes = tuple(self._node(self.drafts[key], numbers[key], names.index(keys[key])) for key in ordered)
        edges = sorted((numbers[a], numbers[b], how, marked) for (a, b, how), marked in self.edges.items())
        if any(draft.laps for draft in self.drafts.values()):
            self.notes.append(
                "Iterations that repeat what came before are not followed: they are neither drawn nor counted."
            )
        return Picture(
            title, tuple(name for name, *_ in names), nodes, tuple(PictureEdge(*e) for e in edges), tuple(self.notes)
        )

    def _columns(self) -> dict[Hashable, tuple[str, tuple[float, ...]]]:
        """For each draft the name of its column and what sorts it: runs of loops are numbered in time."""
        changing = self._changing_loops()
        inner = {key: tuple(lap for lap in draft.laps if lap.loop in changing) for key, draft in self.drafts.items()}
        begun: dict[int, float] = {}  # when each run of an outermost loop began
        for key, laps in inner.items():
            if laps:
                begun[laps[0].run] = min(begun.get(laps[0].run, self.drafts[key].stamp), self.drafts[key].stamp)
        return {
            key: _iteration(laps) if laps else _outside(self.drafts[key].stamp, begun) for key, laps in inner.items()
        }

    def _changing_loops(self) -> set[ast.AST]:
        """The loops of which more than one iteration is drawn."""
        runs: dict[ast.AST, set[tuple[int, int]]] = {}
        for draft in self.drafts.values():
            for lap in draft.laps:
                runs.setdefault(lap.loop, set()).add((lap.run, lap.number))
        return {loop for loop, laps in runs.items() if len(laps) > 1}

    def _node(self, draft: Draft, number: int, column: int) -> PictureNode:
        spot = self._spot(draft.point) if draft.point is not None else None
        return PictureNode(
            number, draft.kind, draft.title, tuple(draft.details), column, spot, draft.is_marked, draft.is_certain
        )

    def _spot(self, point: ProgramPoint) -> Spot | None:
        """Where it is; of what happens in a framework the call that leads there."""
        for node in (point.node, *reversed(point.calls)):
            if hasattr(node, "lineno"):
                source = self.files.source(node)
                if stub_module_name(source.path) is None:
                    span = source.span(node)
                    return Spot(source.path, span.row, span.column)
        return None


def _iteration(laps: tuple[Iteration, ...]) -> tuple[str, tuple[float, ...]]:
    """The name of a column, and what sorts it."""
    return ", ".join(map(moment, laps)), tuple(float(number) for lap in laps for number in (lap.run, lap.number))


def _outside(stamp: float, begun: Mapping[int, float]) -> tuple[str, tuple[float, ...]]:
    """The same for what is in no loop; ``begun`` has the runs of loops."""
    before = [run for run, start in begun.items() if start < stamp]
    if not before:
        return "before the loop" if begun else "the program", (-1.0,)
    where = "after the loop" if len(before) == len(begun) else "between the loops"
    return where, (float(max(before)), float("inf"))


def _name(node: Node) -> str:
    """The class of the node in PyTorch where sizes do not decide it; else the op, or the unknown callable."""
    return f"<{node.assumption}>" if node.assumption is not None else grad_fn(node) or node.op.rpartition("::")[2]


def _ended(walk: Walk) -> BackwardPass:
    """A pass that has ended, with what it began at."""
    root = walk.root.grad_fn if walk.root is not None else None
    return BackwardPass(walk.event.point, walk.event.root, (root,) if root is not None else walk.event.ran[:1])


def _done(run: BackwardPass, ran: BackwardRan) -> list[str]:
    """What a pass has walked, freed and filled."""
    count = sum(node.saves_anything for node in ran.ran)
    freed = "frees what they saved" if ran.frees else "frees nothing" if ran.retains else "may free them"
    below = nodes_below(item for item in run.begin if isinstance(item, Node))
    is_known = all(node.certain and node.assumption is None and node.is_complete for node in below)
    found = [] if is_known else ["as far as is known:"]
    found.append(f"walks {number_of(len(ran.ran), 'operation')}, {count} with saved values; {freed}")
    if ran.reached:
        verb = "fills .grad of" if ran.accumulates else "returns gradients of"
        found.append(f"{verb} {number_of_leaves(len(ran.reached))}")
    return found


class Selection:
    """``kept`` are drawn, in the order of the graph; ``rest`` are not."""

    def __init__(self, subject: Subject) -> None:
        path = subject.path
        way = path if len(path) <= DRAWN.way else (*path[: DRAWN.way // 2], *path[-DRAWN.way // 2 :])
        first = [*subject.hazards, *(node for node, _, _ in subject.spoiled), *subject.roots, *way]
        reached = list(_by_distance(first))
        operations = [item for item in reached if isinstance(item, Node)]
        leaves = [item for item in reached if isinstance(item, Leaf)]
        near = sorted(leaves, key=lambda leaf: leaf not in subject.hazards)
        self.kept: dict[Node | Leaf, None] = dict.fromkeys([*operations[: DRAWN.operations], *near[: DRAWN.leaves]])
        self.rest: list[Node | Leaf] = [*operations[DRAWN.operations :], *near[DRAWN.leaves :]]


def _by_distance(begin: Iterable[Node | Leaf]) -> Iterable[Node | Leaf]:
    """All that the graph leads to, the nearest first."""
    seen = dict.fromkeys(begin)
    todo = deque(seen)
    while todo:
        item = todo.popleft()
        yield item
        for below in item.inputs if isinstance(item, Node) else ():
            if below not in seen:
                seen[below] = None
                todo.append(below)
