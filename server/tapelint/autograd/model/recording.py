"""Recording: what running one op leaves on the tape.

    y = x.exp()   -> a node <exp> that saved its result, a tensor y that requires grad
    y.add_(1)     -> the version of y's storage goes up by one, y's grad_fn becomes <add_>

Which tensors an op saves, writes and aliases is data (``tapelint.ops``); this file only knows what that means.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...ops.casting import saves_original
from ...ops.schema import Op
from ..events.graph_walks import GraphTensorWritten
from ..facts import Cut, Facts
from ..gradients.missing_mark_dirty import tell_unmarked
from ..state import State, fresh_id
from .graph import Extent, Kind, Leaf, Node, SavedTensor, Tensor
from .inference_mode import check_inference_write, check_saved
from .views import UNRECORDED, current, edge_of, settle
from .writes import PROTECTED, bump, check_read, check_write, overlapping

Arg = int | Sequence[int]


SUMS = frozenset(("add", "sub", "rsub", "stack", "cat"))
SCALINGS = frozenset(("mul", "div", "neg", "sum", "mean"))
REWRAPPED = frozenset(("torch.tensor", "item", "create_graph"))
"""Ways to lose a graph that say nothing of wanting that, as ``detach`` does."""


def flatten(args: Mapping[str, Arg | None]) -> list[tuple[str, int]]:
    """The tensors among ``args`` with the parameter each was given for."""
    found: list[tuple[str, int]] = []
    for name, value in args.items():
        if isinstance(value, int):
            found.append((name, value))
        elif value:
            found += [(name, item) for item in value]
    return found


def both(known: bool, unknown: bool) -> bool | None:
    return True if known else None if unknown else False


def record(
    facts: Facts,
    state: State,
    op: Op,
    args: Mapping[str, Arg | None],
    node: ast.AST,
    outputs: int | None = None,
    same: bool = False,
    sizes: Extent = None,
    kind: Kind = None,
) -> tuple[int, ...]:
    """Run ``op`` on ``args`` (tensor ids by parameter name); the ids of the tensors it returns.

    ``outputs`` is how many an op with a variable number returns. ``same`` says that a ``maybe`` view is no copy.
    ``sizes`` are those of what it returns, ``kind`` the family of its dtype, where that is known.
    Raises Refused where PyTorch raises.
    """
    target = args.get(op.writes[0]) if op.writes else None
    flows, mode, given = op.flows, state.grad_mode, flatten(args)
    if mode:
        for name, key in given:
            if state.tensors[key].view and name in flows and key != target:
                check_read(facts, state, key, node)
    tensors: list[tuple[str, Tensor]] = []
    flowing: list[tuple[str, Tensor]] = []
    wanted, perhaps = set[str](), set[str]()
    for name, key in given:
        flow = name in flows
        tensor = settle(state, key) if flow and mode and key != target else current(state, key)
        tensors.append((name, tensor))
        if flow:
            flowing.append((name, tensor))
            if tensor.requires_grad is not False:
                (wanted if tensor.requires_grad else perhaps).add(name)
    if facts.unmarked and mode:
        tell_unmarked(facts, state, [t for _, t in flowing], node)
    needs = both(mode is True and bool(wanted), mode is not False and bool(wanted or perhaps))
    if op.writes:
        return _write(facts, state, op, target, tensors, node, needs, wanted)

    source = tensors[0][1] if tensors else None
    if op.view == "same" and op.outputs == 1 and source is not None:
        return (source.id,)
    count = max(op.outputs if op.outputs >= 0 else (outputs or 1), 1)
    keys = tuple([fresh_id() for _ in range(count)])
    point = state.point(node)
    graph: Node | None = None
    if needs is not False and len(op.constant) < count:
        sources = tuple([(name, e) for name, t in flowing if (e := edge_of(t)) is not None])
        saved, keeps = _saves(facts, state, op, tensors, keys, None, wanted)
        if needs:
            check_saved(facts, state, saved, op.name, node)
        graph = Node(
            keys[0],
            op.name,
            tuple(dict.fromkeys([e for _, e in sources])),
            point,
            saved,
            keeps,
            needs is True,
            results=keys,
            grad_fn=op.grad_fn,
            anchors=tuple([t.id for _, t in flowing]),
            overload=op.overload,
            sources=sources,
        )
    for index, key in enumerate(keys):
        grad = needs if index not in op.constant else False
        if mode is False and op.view and source is not None and source.requires_grad:
            grad = None  # PyTorch computes it from the base when asked: it may be True
        shared = source is not None and op.view and (op.view in ("view", "multi") or same)
        if shared:
            assert source is not None
            detached = op.name == "detach"
            way = "inference" if state.inference else "multi" if op.view == "multi" else "view"
            if way == "view":
                # Made of a protected view it is protected in the same way.
                way = "no_grad" if mode is False else source.view if source.view in PROTECTED else way
            if mode is False and source.requires_grad:
                grad = True  # as its base does; no gradient goes anywhere from it
            base = None if detached else (source.base if source.base is not None else source.id)
            state.tensors[key] = Tensor(
                key,
                source.counter,
                source.memory,
                point,
                False if detached else grad,
                graph if grad is not False else None,
                base,
                way,
                state.version(source.counter),
                sizes,
                source.kind,
                inference=source.inference,
                output=index,
            )
        else:
            state.tensors[key] = Tensor(
                key,
                key,
                key,
                point,
                grad,
                graph if grad is not False else None,
                sizes=() if op.scalar else sizes,
                kind=(kind if index not in op.constant else None) or _inherited(op, source, index),
                inference=state.inference,
                output=index,
            )
        if op.name == "clone" and source is not None:
            facts.copies[key] = (source.id, state.version(source.counter))
        if grad is False or mode is False and shared:
            _remember_cut(facts, state, key, op, tensors, mode, node)
        elif facts.cuts:
            _remember_term(facts, key, flowing, op.name)
    return keys


def _inherited(op: Op, source: Tensor | None, index: int) -> Kind:
    """What the dtype of the first tensor says about that of a result."""
    if source is None:
        return None
    if not op.flows or index in op.constant:
        return "other"
    return source.kind if source.kind == "float" else None


def _saves(
    facts: Facts,
    state: State,
    op: Op,
    tensors: Sequence[tuple[str, Tensor]],
    results: Sequence[int],
    written: Tensor | None,
    wanted: set[str],
) -> tuple[tuple[SavedTensor, ...], bool]:
    """What the new node keeps, and whether it keeps anything for certain. What is only perhaps saved is left out, and
    so is what would serve a gradient that goes nowhere: that of a view made under ``no_grad``.
    """
    kept: list[SavedTensor] = []
    keeps = False
    leading = wanted.difference([name for name, t in tensors if t.view in UNRECORDED and t.grad_fn is None])
    for item in op.saves:
        if leading.isdisjoint(item.gradient_of) if item.gradient_of else not wanted:
            continue
        if item.what.startswith("result"):
            keeps = True
            if written is not None:
                kept.append(SavedTensor("result", written.id, written.counter, state.version(written.counter) + 1))
            else:
                index = int(item.what[6:] or 0)
                if index < len(results):
                    kept.append(SavedTensor("result", results[index], results[index], 0))
        elif item.what == "~":
            keeps = True
        else:
            for name, tensor in tensors:
                if name == item.what:
                    keeps = True
                    if facts.casting and not saves_original(op.name, facts.is_single(tensor.id)):
                        continue  # a copy in another type
                    kept.append(SavedTensor(name, tensor.id, tensor.counter, state.version(tensor.counter)))
    held = state.packed(kept)
    facts.saved.update([item.counter for item in held])
    return held, keeps


def _write(
    facts: Facts,
    state: State,
    op: Op,
    target: Arg | None,
    tensors: Sequence[tuple[str, Tensor]],
    node: ast.AST,
    needs: bool | None,
    wanted: set[str],
) -> tuple[int, ...]:
    """An in-place op: refused on leaves, otherwise a bump of the version and a new history."""
    if not isinstance(target, int):
        return ()
    tensor = current(state, target)
    check_inference_write(facts, state, tensor, op.name, node)
    written = [t for name, t in tensors if name in op.flows and t.id != target and t.requires_grad]
    given = any(t.grad_fn is not None for t in written)
    check_write(facts, state, tensor, op.name, node, needs, given, bool(written))
    if needs is True and tensor.grad_fn is not None:
        facts.publish(GraphTensorWritten(state.point(node), tensor.premise, target, op.name))
    if needs is not False:
        saved, keeps = _saves(facts, state, op, tensors, (), tensor, wanted)
        if needs:
            check_saved(facts, state, saved, op.name, node)
        others = [(name, t) for name, t in tensors if name in op.flows and t.id != target]
        given = [(name, e) for name, t in others if (e := edge_of(t)) is not None]
        anchors = tuple(t.id for name, t in tensors if name in op.flows)
        # What was there before: of a view that is the history of its base. It is gone if the op replaces all of it.
        whole = tensor if tensor.base is None else current(state, tensor.base)
        if (old := edge_of(whole)) is not None and (tensor.base is not None or op.writes[0] in op.flows):
            given.insert(0, (op.writes[0], old))
        edges = tuple(dict.fromkeys(e for _, e in given))
        point = state.point(node)
        facts = {"certain": needs is True, "results": (target,), "anchors": anchors}
        facts |= {"overload": op.overload, "sources": tuple(given)}
        if tensor.base is None:
            graph = Node(fresh_id(), op.name, edges, point, saved, keeps, grad_fn=op.grad_fn, **facts)  # type: ignore[arg-type]
            state.tensors[target] = replace(tensor, grad_fn=graph, requires_grad=needs)
        else:
            graph = Node(fresh_id(), op.name, edges, point, saved, True, grad_fn="CopySlices", **facts)  # type: ignore[arg-type]
            state.tensors[whole.id] = replace(whole, grad_fn=graph, requires_grad=needs)
            view = Node(
                fresh_id(),
                "as_strided",
                (graph,),
                point,
                certain=needs is True,
                results=(target,),
                grad_fn="AsStridedBackward0",
            )
            state.tensors[target] = replace(
                tensor, grad_fn=view, requires_grad=needs, seen=state.version(tensor.counter) + 1
            )
    beside = tuple((t.memory, state.version(t.counter)) for _, t in tensors if t.id != target)
    bump(state, tensor.counter, op.name, node, not overlapping(state, tensor), target, beside)
    return (target,)


def _remember_cut(
    facts: Facts,
    state: State,
    key: int,
    op: Op,
    tensors: Sequence[tuple[str, Tensor]],
    mode: bool | None,
    node: ast.AST,
) -> None:
    """Why a result has no graph, where one of its inputs had one. Of a tensor that another one is ``like``, nothing but
    its size is looked at.
    """
    if op.name.endswith("_like"):
        return
    for _, tensor in tensors:
        if tensor.requires_grad:
            mode_name = "inference_mode" if state.inference else "no_grad"
            switched = state.grad_mode_set_at if mode is False else None
            reason = mode_name if mode is False else op.name
            facts.cuts[key] = Cut(state.point(node), reason, switched, tensor.grad_fn)
            return
        if tensor.id in facts.cuts:
            facts.cuts[key] = facts.cuts[tensor.id]
            return


def _remember_term(facts: Facts, key: int, flowing: Sequence[tuple[str, Tensor]], op: str) -> None:
    """A sum with a graph, one of whose terms lost its own: what that term was computed from gets nothing. A sum that
    goes on as something else, as the weights of a first-order update do, is no loss.
    """
    if op not in SUMS and (op not in SCALINGS or len(flowing) > 1):
        return
    for _, tensor in flowing:
        cut = facts.terms.get(tensor.id) or (facts.cuts.get(tensor.id) if op in SUMS else None)
        if cut is not None and cut.reason in REWRAPPED:
            facts.terms[key] = cut
            return


def invent(
    facts: Facts,
    state: State,
    inputs: Sequence[int],
    node: ast.AST,
    assumed: str | None,
    extra: Sequence[Node | Leaf] = (),
    op: str = "",
    keeps: bool = True,
) -> int:
    """A tensor that depends on ``inputs`` through one node that ``keeps`` something: by assumption, if ``assumed``
    names a callee.
    """
    tensors = [current(state, key) for key in inputs]
    edges = tuple(dict.fromkeys([*(e for t in tensors if t.requires_grad and (e := edge_of(t)) is not None), *extra]))
    key = fresh_id()
    needs = both(state.grad_mode is True and bool(edges), state.grad_mode is not False)
    if state.grad_mode is False:
        needs = False
    graph = None
    if edges and needs:
        graph = Node(
            key,
            op or assumed or "call",
            edges,
            state.point(node),
            keeps=keeps,
            assumed=assumed,
            results=(key,),
            anchors=tuple(inputs),
        )
    perhaps = needs or needs is None and any(t.requires_grad is None for t in tensors)
    state.tensors[key] = Tensor(
        key, key, key, state.point(node), needs if edges else None if perhaps else False, graph, assumed=assumed
    )
    return key
