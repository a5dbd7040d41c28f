"""Recording: what running one op leaves on the tape.

    y = x.exp()   -> a node <exp> that saved its result, a tensor y that requires grad
    y.add_(1)     -> the version of y's storage goes up by one, y's grad_fn becomes <add_>

Which tensors an op saves, writes and aliases is data (``tapelint.ops``); this file only knows what that means.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...frozen import frozen
from ...ops.schema import Op
from ...ops.traits import traits_of
from ...source import written
from ..events.graph_walks import GraphTensorWritten
from ..facts import Facts
from ..state import AutogradState, fresh_id
from .cuts import Cut, CutReason, Provenance
from .graph import Extent, Kind, Leaf, Node, SavedTensor, Tensor, ViewKind
from .hidden_writes import note_hidden, note_use, tell_unmarked
from .program_point import ProgramPoint
from .requires_grad import doubt_maybe_same, doubt_maybe_viewed, give_history
from .stores import LastStore, Stored, StoreKind
from .views import UNRECORDED, edge_of, materialize_view, resolve_view
from .writes import (
    PROTECTED,
    bump,
    check_inference_write,
    check_overlap,
    check_read,
    check_write,
    overlapping,
    protected_at,
    refuse_saved,
)

Arg = int | Sequence[int]


REWRAPPED = frozenset((CutReason.REMADE, CutReason.ITEM, CutReason.CREATE_GRAPH))
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


@frozen
class Operands:
    """The tensors an op is given, each with its parameter.

    Gradients go to those that are ``flowing``. ``requiring`` are the parameters one of which requires grad for certain;
    ``requires_grad`` is what follows for the result in the present grad mode.
    """

    tensors: list[tuple[str, Tensor]]
    flowing: list[tuple[str, Tensor]]
    requiring: set[str]
    requires_grad: bool | None


def record(
    facts: Facts,
    state: AutogradState,
    op: Op,
    args: Mapping[str, Arg | None],
    node: ast.AST,
    outputs: int | None = None,
    same: bool | None = None,
    sizes: Extent = None,
    kind: Kind = None,
) -> tuple[int, ...]:
    """Run ``op`` on ``args`` (tensor ids by parameter name); the ids of the tensors it returns.

    ``outputs`` is how many an op with a variable number returns. ``same`` says of a ``maybe`` view that it is no copy,
    or that this is not known; None: what it is given decides.
    ``sizes`` are those of what it returns, ``kind`` the family of its dtype, where that is known.
    Raises Refused where PyTorch raises.
    """
    target = args.get(op.writes[0]) if op.writes else None
    operands = _operands(facts, state, op, args, target, node)
    if op.writes:
        return _write(facts, state, op, target, operands, node)

    tensors = operands.tensors
    source = tensors[0][1] if tensors else None
    if op.view == "same" and op.outputs == 1 and source is not None:
        return (source.id,)
    keys = tuple([fresh_id() for _ in range(_result_count(op, outputs))])
    point = state.point(node)
    is_view = _shares_memory(facts, op, tensors, same)
    graph: Node | None = None
    if operands.requires_grad is not False and len(op.constant) < len(keys):
        graph = _grad_fn(facts, state, op, operands, keys, point)
        if facts.memory.hidden_writes:
            note_use(facts, state, graph, is_view)
    viewed = source if is_view else None
    for index, key in enumerate(keys):
        needs = False if index in op.constant else operands.requires_grad
        if viewed is not None:
            made = _view(state, op, viewed, key, index, point, needs, graph, sizes)
        else:
            made = _computed(facts, state, op, source, key, index, point, needs, graph, sizes, kind)
        state.tensors[key] = made
        _remember(facts, state, made, op, operands, node)
    return keys


def _operands(
    facts: Facts, state: AutogradState, op: Op, args: Mapping[str, Arg | None], target: Arg | None, node: ast.AST
) -> Operands:
    """Read what an op is given: a stale view gets its new history first, or is refused. ``target`` is what it
    writes."""
    flows, mode, given = op.flows, state.grad_mode, flatten(args)
    tensors: list[tuple[str, Tensor]] = []
    flowing: list[tuple[str, Tensor]] = []
    requiring, perhaps = set[str](), False
    for name, key in given:
        flow = name in flows
        if flow and mode and key != target:
            if state.tensors[key].view:
                check_read(facts, state, key, node)
            tensor = materialize_view(state, key)
        else:
            tensor = resolve_view(state, key)
        write = state.writes.get(tensor.version_counter)
        if write is not None and key != write.tensor and key < write.stamp:
            facts.memory.read_since[write.stamp] = facts.memory.read_since.get(write.stamp, frozenset()) | {key}
        tensors.append((name, tensor))
        if flow:
            flowing.append((name, tensor))
            if tensor.requires_grad:
                requiring.add(name)
            elif tensor.requires_grad is None:
                perhaps = True
    if facts.memory.unmarked and mode:
        tell_unmarked(facts, state, [t for _, t in flowing], node)
    return Operands(tensors, flowing, requiring, result_requires_grad(mode, bool(requiring), perhaps))


def result_requires_grad(mode: bool | None, known: bool, perhaps: bool) -> bool | None:
    """Whether the result of an op requires grad, if one of its inputs does for certain or ``perhaps``."""
    if mode is False or not (known or perhaps):
        return False
    return True if known and mode else None


def _is_in_order(facts: Facts, op: Op, tensors: Sequence[tuple[str, Tensor]]) -> bool:
    """Whether the entries of what an op returns lie in memory in order."""
    traits = traits_of(op.name)
    if not tensors or "lines-up" in traits:
        return True
    return "keeps-order" in traits and all(tensor.id in facts.memory.contiguous for _, tensor in tensors)


def _shares_memory(facts: Facts, op: Op, tensors: Sequence[tuple[str, Tensor]], same: bool | None) -> bool:
    """Whether a result is a view: what lies in order is no copy in other sizes (``linear(x).reshape(-1)``)."""
    if op.view in ("view", "multi"):
        return True
    return op.view != "" and (_is_in_order(facts, op, tensors[:1]) if same is None else same)


def _result_count(op: Op, outputs: int | None) -> int:
    """How many tensors an op returns; ``outputs`` says it of one with a variable number."""
    return max(op.outputs if op.outputs >= 0 else (outputs or 1), 1)


def _grad_fn(
    facts: Facts, state: AutogradState, op: Op, operands: Operands, keys: tuple[int, ...], point: ProgramPoint
) -> Node:
    """The node that an op adds to the graph, with what it saves."""
    needs, flowing = operands.requires_grad, operands.flowing
    sources = tuple([(name, e) for name, t in flowing if (e := edge_of(t)) is not None])
    saved, saves_anything = _saves(facts, state, op, operands, keys, None, point.node)
    return Node(
        keys[0],
        op.name,
        tuple(dict.fromkeys([e for _, e in sources])),
        point,
        saved,
        saves_anything,
        needs is True,
        results=keys,
        grad_fn=op.grad_fn,
        operand_ids=tuple([t.id for _, t in flowing]),
        overload=op.overload,
        named_inputs=sources,
    )


def _view(
    state: AutogradState,
    op: Op,
    source: Tensor,
    key: int,
    index: int,
    point: ProgramPoint,
    needs: bool | None,
    graph: Node | None,
    sizes: Extent,
) -> Tensor:
    """A result that shares the memory and the version counter of ``source``."""
    mode = state.grad_mode
    base: int | None = source.base if source.base is not None else source.id
    if mode is False and source.requires_grad:
        needs = True  # as its base does; no gradient goes anywhere from it
    if op.name == "detach":
        base, needs = None, False
    return Tensor(
        key,
        source.version_counter,
        source.storage,
        point,
        needs,
        graph if needs is not False else None,
        base,
        _view_kind(state, op, source),
        state.version(source.version_counter),
        sizes,
        source.kind,
        inference=source.inference,
        output=index,
    )


def _view_kind(state: AutogradState, op: Op, source: Tensor) -> ViewKind:
    """How a view was made, which decides whether it may be written. One of a protected view is protected like that."""
    if state.inference:
        return "inference"
    if op.view == "multi":
        return "multi"
    if state.grad_mode is False:
        return "no_grad"
    return source.view if source.view in PROTECTED else "view"


def _computed(
    facts: Facts,
    state: AutogradState,
    op: Op,
    source: Tensor | None,
    key: int,
    index: int,
    point: ProgramPoint,
    needs: bool | None,
    graph: Node | None,
    sizes: Extent,
    kind: Kind,
) -> Tensor:
    """A result in new memory; ``source`` is the first tensor that the op was given."""
    if op.view == "maybe" and source is not None:
        facts.memory.maybe_viewed[key] = source.id if source.base is None else source.base
    if op.view and state.grad_mode is False and source is not None and source.requires_grad:
        needs = None  # PyTorch computes it from the base when asked: it may be True
    return Tensor(
        key,
        key,
        key,
        point,
        needs,
        graph if needs is not False else None,
        sizes=() if op.scalar else sizes,
        kind=(kind if index not in op.constant else None) or _inherited(op, source, index),
        inference=state.inference,
        output=index,
    )


def _inherited(op: Op, source: Tensor | None, index: int) -> Kind:
    """What the dtype of the first tensor says about that of a result."""
    if source is None:
        return None
    if not op.flows or index in op.constant:
        return "other"
    return source.kind if source.kind == "float" else None


def _saves(
    facts: Facts,
    state: AutogradState,
    op: Op,
    operands: Operands,
    results: Sequence[int],
    written: Tensor | None,
    node: ast.AST,
) -> tuple[tuple[SavedTensor, ...], bool]:
    """What the new node saves, and whether it keeps anything for certain. What is only perhaps saved is left out, and
    so is what would serve a gradient that goes nowhere: that of a view made under ``no_grad``. Raises Refused where an
    inference tensor would be saved.
    """
    if not op.saves:
        return (), False
    kept: list[SavedTensor] = []
    saves_anything = False
    tensors, requiring = operands.tensors, operands.requiring
    leading = requiring.difference([name for name, t in tensors if t.view in UNRECORDED and t.grad_fn is None])
    for item in op.saves:
        if leading.isdisjoint(item.gradient_of) if item.gradient_of else not requiring:
            continue
        if item.what.startswith("result"):
            saves_anything = True
            kept += _saved_result(state, item.what, results, written)
        elif item.what == "~":
            saves_anything = True
        else:
            given = [tensor for name, tensor in tensors if name == item.what]
            saves_anything |= bool(given)
            kept += _saved_operands(facts, state, op, item.what, given, operands.requires_grad, node)
    held = state.packed(kept)
    facts.memory.saved.update([item.version_counter for item in held])
    return held, saves_anything


def _saved_operands(
    facts: Facts,
    state: AutogradState,
    op: Op,
    role: str,
    given: Sequence[Tensor],
    needs: bool | None,
    node: ast.AST,
) -> list[SavedTensor]:
    """What an op saves of the tensors that it was given in one role: those of which autocast makes no copy."""
    own = [tensor for tensor in given if not _is_cast(facts, op, tensor)]
    if needs:
        refuse_saved(facts, state, own, op.name, node)
    return [_saved_operand(state, role, tensor) for tensor in own]


def _saved_operand(state: AutogradState, role: str, tensor: Tensor) -> SavedTensor:
    return SavedTensor(role, tensor.id, tensor.version_counter, state.version(tensor.version_counter))


def _is_cast(facts: Facts, op: Op, tensor: Tensor) -> bool:
    """Whether autocast gives an op a copy of ``tensor`` in another type, so that this is what it saves.

    Autocast hands most ops that save something such a copy: matrix products, convolutions and recurrent cells a shorter
    one, losses, norms and powers a longer one. A write to the original is then no code's business. A tensor that has
    the longer type already is not copied for the latter: they save it as it is.
    """
    if not facts.running.casting or "saves-uncast" in op.traits:
        return False
    return "may-shorten" in op.traits or not facts.is_single(tensor.id)


def _saved_result(state: AutogradState, what: str, results: Sequence[int], written: Tensor | None) -> list[SavedTensor]:
    """A result that is saved: what the op has ``written``, or the one of ``results`` that ``what`` numbers."""
    if written is not None:
        return [SavedTensor("result", written.id, written.version_counter, state.version(written.version_counter) + 1)]
    index = int(what[6:] or 0)
    return [SavedTensor("result", results[index], results[index], 0)] if index < len(results) else []


def _write(
    facts: Facts, state: AutogradState, op: Op, target: Arg | None, operands: Operands, node: ast.AST
) -> tuple[int, ...]:
    """An in-place op: refused on leaves, otherwise a bump of the version and a new history."""
    if not isinstance(target, int):
        return ()
    tensor = resolve_view(state, target)
    # Integers and booleans have no gradient: what is copied into them is cast, and the graph ends there.
    needs = False if tensor.kind in ("int", "bool") else operands.requires_grad
    check_inference_write(facts, state, tensor, op.name, node)
    written = [t for _, t in operands.flowing if t.id != target and t.requires_grad]
    given = any(t.grad_fn is not None and not _is_part_of_leaf(state, t) for t in written)
    check_write(facts, state, tensor, op.name, node, needs, given, bool(written))
    if target in facts.memory.windows:
        check_overlap(facts, state, target, operands.tensors, op.name, node)
    if needs is True and tensor.grad_fn is not None:
        facts.events.publish(
            GraphTensorWritten(point=state.point(node), because=tensor.because, tensor=target, op=op.name)
        )
    if needs is not False:
        _rebase_history(facts, state, op, tensor, operands, node)
        doubt_maybe_viewed(facts, state, tensor)
        doubt_maybe_same(facts, state, tensor.id)
    beside = tuple((t.storage, state.version(t.version_counter)) for _, t in operands.tensors if t.id != target)
    certain = "takes-overlapping" in op.traits or not overlapping(state, tensor)
    bump(state, tensor.version_counter, op.name, node, certain, target, beside)
    note_hidden(facts, state, tensor, op.name, needs)
    return (target,)


def _is_part_of_leaf(state: AutogradState, tensor: Tensor) -> bool:
    """Whether a tensor is a view of a leaf."""
    return tensor.base is not None and state.tensors[tensor.base].is_leaf


def _rebase_history(
    facts: Facts, state: AutogradState, op: Op, tensor: Tensor, operands: Operands, node: ast.AST
) -> None:
    """Give a tensor that is written the history it has from now on; where it is a view, its base gets one first."""
    needs, point = operands.requires_grad, state.point(node)
    saved, saves_anything = _saves(facts, state, op, operands, (), tensor, node)
    sources = [(name, e) for name, t in operands.flowing if t.id != tensor.id and (e := edge_of(t)) is not None]
    # What was there before: of a view that is the history of its base. It is gone if the op replaces all of it.
    whole = tensor if tensor.base is None else resolve_view(state, tensor.base)
    if (old := edge_of(whole)) is not None and (tensor.base is not None or op.writes[0] in op.flows):
        sources.insert(0, (op.writes[0], old))
    graph = Node(
        fresh_id(),
        op.name,
        tuple(dict.fromkeys(e for _, e in sources)),
        point,
        saved,
        saves_anything or tensor.base is not None,
        needs is True,
        results=(tensor.id,),
        grad_fn=op.grad_fn if tensor.base is None else "CopySlices",
        operand_ids=tuple(t.id for _, t in operands.flowing),
        overload=op.overload,
        named_inputs=tuple(sources),
    )
    give_history(state, whole, graph, needs)
    _remember_store(state, whole.id, node)
    if tensor.base is not None:
        view = Node(
            fresh_id(),
            "as_strided",
            (graph,),
            point,
            certain=needs is True,
            results=(tensor.id,),
            grad_fn="AsStridedBackward0",
        )
        give_history(state, tensor, view, needs, state.version(tensor.version_counter) + 1)


def _remember_store(state: AutogradState, key: int, node: ast.AST) -> None:
    """A method has written a tensor in place, in a loop: what it was called on holds what was written. Of
    ``x.mul_(a).add_(b)`` only the last method counts.
    """
    if not state.iterations or not isinstance(node, ast.Call):
        return
    owner: ast.expr = node.func
    while isinstance(owner, ast.Attribute) and owner.attr.endswith("_"):
        owner = owner.value
        if isinstance(owner, ast.Call):
            state.last_stores.pop(owner, None)
            owner = owner.func
    stored = Stored(state.point(node), written(owner), None, node, StoreKind.ASSIGNED)
    state.last_stores[node] = LastStore(key, stored)


def _remember(facts: Facts, state: AutogradState, made: Tensor, op: Op, operands: Operands, node: ast.AST) -> None:
    """Note of a result what it is a copy of, and where its graph, or that of one of its terms, was lost."""
    if _is_in_order(facts, op, operands.tensors):
        facts.memory.contiguous.add(made.id)
    if op.name == "clone" and operands.tensors:
        source = operands.tensors[0][1]
        origin = (source.id, state.version(source.version_counter))
        facts.record_provenance(made.id, Provenance(clone_of=origin))
    if made.view in PROTECTED and op.view != "multi" and state.grad_mode is True:  # because of what it is a view of
        facts.record_provenance(made.id, Provenance(protected_at=protected_at(facts, operands.tensors[0][1])))
    is_view = made.id != made.version_counter
    if made.requires_grad is False or is_view and state.grad_mode is False:
        _remember_cut(facts, state, made.id, op, operands.tensors, state.grad_mode, node)
        return
    if made.requires_grad is None and facts.training.frozen_at:
        _remember_frozen(facts, state, made.id, [tensor for _, tensor in operands.tensors])
    if facts.origins.provenance:
        _remember_term(facts, made.id, operands.flowing, op)


def _remember_cut(
    facts: Facts,
    state: AutogradState,
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
    _remember_frozen(facts, state, key, [tensor for _, tensor in tensors])
    cuts: list[Cut] = []
    for _, tensor in tensors:
        origins = facts.provenance_of(tensor.id)
        if tensor.requires_grad:
            cuts.append(_cut_by(state, op.name, mode, tensor, tensors, node))
        elif origins.cut is not None:
            cuts += [origins.cut, origins.last_cut or origins.cut]
    if cuts:
        last = max(cuts, key=lambda cut: cut.source.id if cut.source is not None else -1)
        facts.record_provenance(key, Provenance(cut=cuts[0], last_cut=last if last is not cuts[0] else None))


def _remember_frozen(facts: Facts, state: AutogradState, key: int, tensors: Sequence[Tensor]) -> bool:
    """Note of a tensor a leaf that some ``tensors`` were computed from, or that is one of them, which has been made not
    to require grad, and which an optimizer holds or a backward has reached before. Whether there is one.
    """
    for tensor in tensors:
        is_trained = tensor.id in facts.training.optimized or tensor.id in state.history
        is_frozen = tensor.id in facts.training.frozen_at and is_trained and tensor.requires_grad is False
        found = tensor.id if is_frozen else facts.provenance_of(tensor.id).frozen
        if found is not None:
            facts.record_provenance(key, Provenance(frozen=found))
            return True
    return False


def _cut_by(
    state: AutogradState,
    op: str,
    mode: bool | None,
    source: Tensor,
    tensors: Sequence[tuple[str, Tensor]],
    node: ast.AST,
) -> Cut:
    """The cut between ``source``, one of ``tensors``, and a result of ``op`` that does not require grad: by the grad
    mode or the op.
    """
    point = state.point(node)
    if mode is False:
        reason = CutReason.INFERENCE_MODE if state.inference else CutReason.NO_GRAD
        leaves = tuple(tensor.id for _, tensor in tensors if tensor.requires_grad and tensor.grad_fn is None)
        return Cut(point, reason, grad_mode_set_at=state.grad_mode_set_at, source=source.grad_fn, leaves=leaves)
    if op == CutReason.DETACH.value:
        return Cut(point, CutReason.DETACH, source=source.grad_fn)
    return Cut(point, CutReason.OPERATION, op, source=source.grad_fn)


def _remember_term(facts: Facts, key: int, flowing: Sequence[tuple[str, Tensor]], op: Op) -> None:
    """A sum with a graph, one of whose terms lost its own: what that term was computed from gets nothing. A sum that
    goes on as something else, as the weights of a first-order update do, is no loss.
    """
    is_sum = "adds" in op.traits
    if not is_sum and ("scales" not in op.traits or len(flowing) > 1):
        return
    for _, tensor in flowing:
        origins = facts.provenance_of(tensor.id)
        cut = origins.detached_term
        if cut is None and is_sum and origins.cut is not None and origins.cut.reason in REWRAPPED:
            cut = origins.cut
        if cut is not None:
            facts.record_provenance(key, Provenance(detached_term=cut))
            return


def invent(
    facts: Facts,
    state: AutogradState,
    inputs: Sequence[int],
    node: ast.AST,
    assumption: str | None,
    extra: Sequence[Node | Leaf] = (),
    op: str = "",
    saves_anything: bool = True,
    saves: Sequence[int] = (),
) -> int:
    """A tensor that depends on ``inputs`` through one node, which ``saves_anything`` or not, and of tensors ``saves``
    these: by assumption, if ``assumption`` names a callee.
    """
    tensors = [resolve_view(state, key) for key in inputs]
    edges = tuple(dict.fromkeys([*(e for t in tensors if t.requires_grad and (e := edge_of(t)) is not None), *extra]))
    key = fresh_id()
    needs = result_requires_grad(state.grad_mode, bool(edges), any(t.requires_grad is None for t in tensors))
    graph = None
    if needs:
        graph = Node(
            key,
            op or assumption or "call",
            edges,
            state.point(node),
            _kept(facts, state, saves) if saves else (),
            saves_anything=saves_anything,
            assumption=assumption,
            results=(key,),
            operand_ids=tuple(inputs),
        )
    state.tensors[key] = Tensor(key, key, key, state.point(node), needs, graph, assumption=assumption)
    if needs is False:
        _explain_invented(facts, state, key, tensors, edges, node)
    elif needs is None:
        _remember_frozen(facts, state, key, tensors)
    return key


def _explain_invented(
    facts: Facts,
    state: AutogradState,
    key: int,
    tensors: Sequence[Tensor],
    edges: Sequence[Node | Leaf],
    node: ast.AST,
) -> None:
    """Why an invented tensor has no graph, although something that it depends on has one, or had."""
    has_frozen = _remember_frozen(facts, state, key, tensors)
    if edges and state.grad_mode is False:
        source = next((edge for edge in edges if isinstance(edge, Node)), None)
        reason = CutReason.INFERENCE_MODE if state.inference else CutReason.NO_GRAD
        cut = Cut(state.point(node), reason, grad_mode_set_at=state.grad_mode_set_at, source=source)
    else:
        cuts = (facts.provenance_of(tensor.id).cut for tensor in tensors)
        found = next((each for each in cuts if each is not None), None)
        if found is None:
            return
        cut = found if has_frozen else replace(found, through=state.tensors[key].assumption)
    facts.record_provenance(key, Provenance(cut=cut))


def _kept(facts: Facts, state: AutogradState, keys: Sequence[int]) -> tuple[SavedTensor, ...]:
    """Tensors that a node saves, as they are now."""
    held = state.packed([_saved_operand(state, "weight", state.tensors[key]) for key in keys])
    facts.memory.saved.update([item.version_counter for item in held])
    return held
