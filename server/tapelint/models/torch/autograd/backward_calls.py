"""``backward()``, ``torch.autograd.backward`` and ``torch.autograd.grad``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from collections.abc import Sequence as SequenceType
from dataclasses import replace

from ....autograd import (
    BATCH,
    Cut,
    CutReason,
    Leaf,
    Node,
    ProgramPoint,
    Provenance,
    Tensor,
    TorchRaises,
    backward,
    doubt,
    edge_of,
    fresh_id,
    give_history,
    is_wide,
    leaf,
    resolve_view,
    second_order,
    unused,
)
from ....autograd.events.broken_graph import NonScalarBackward, RewrappedRoot, TermLost, UnusedInput
from ....autograd.gradients import history
from ....autograd.gradients.ledger import planned
from ....autograd.model.graph_search import nodes_below, reachable
from ....autograd.model.guesses import guess_below
from ....autograd.model.writes import check_read
from ....because import NOTHING, guess
from ....domain.completion import ProgramRaised
from ....domain.opaque_values import may_return_numbers
from ....domain.state import State
from ....domain.values import NONE, Const, Frame, Generator, HeapRef, Origin, TensorRef, Tuple, Unknown, Value
from ....engine.lifecycle import BackwardEnded
from ....engine.machine import Machine
from ....engine.syntax.asked import names_with_gradient
from ....source import called_on, written
from ..dispatch import tensor_list
from ..known_shape import items_in
from ..optim.handed_optimizers import reach_stand_ins
from ..registry import TENSOR_METHODS, Call, function, method
from .walked_unknowns import had_graph, refuse_cut, refuse_frozen, unknown_below

NON_SCALAR = "grad can be implicitly created only for scalar outputs"
NO_INPUT = "One of the differentiated Tensors does not require grad"
NO_TARGET = "can't retain_grad on Tensor that has requires_grad=False"
TRANSFORMED = "backward() called inside a functorch transform."
UNUSED_INPUT = "The differentiated Tensor at index {} appears to not have been used in the graph"


def refused(machine: Machine, words: str) -> ProgramRaised:
    """What PyTorch raises, on its way through the program."""
    machine.unit.stats.raised += 1
    return ProgramRaised("RuntimeError", words, by_torch=True)


def needs_one_element(machine: Machine, state: State, root: int, source: ast.expr | None, call: Call) -> None:
    """Without an initial gradient a backward can only begin at a single number."""
    tensor = resolve_view(state, root)
    if not tensor.requires_grad or not (is_wide(tensor.sizes) or tensor.sizes == BATCH):
        return
    because = guess("a batch holds more than one sample") if tensor.sizes == BATCH else tensor.because
    if not because and (edge := edge_of(tensor)) is not None:
        because = guess_below(state, (edge,))
    built = tensor.grad_fn.created_at if tensor.grad_fn is not None else tensor.created_at
    machine.facts.events.publish(
        NonScalarBackward(
            point=state.point(call.node),
            because=because,
            root=root,
            sizes=tensor.sizes,
            built=built,
            source=source,
            wants="grad" if call.name.endswith(".grad") else "backward",
        )
    )
    if not because:
        raise refused(machine, NON_SCALAR)


def nth_argument(call: Call, place: int, name: str) -> ast.expr | None:
    """The expression of an argument, which may be given as ``name``, where the call spells it out."""
    if not isinstance(call.node, ast.Call) or any(isinstance(a, ast.Starred) for a in call.node.args):
        return None
    if len(call.node.args) > place:
        return call.node.args[place]
    return next((k.value for k in call.node.keywords if k.arg == name), None)


def _tensors_given(machine: Machine, state: State, value: Value) -> list[int] | None:
    """The tensors of an argument that may be one, or several in a list or a tuple; None where it holds none."""
    return [value.id] if isinstance(value, TensorRef) else tensor_list(machine, state, value)


def _targets(machine: Machine, state: State, call: Call, place: int) -> list[int] | None:
    """The tensors of ``inputs=``, for which alone a backward computes gradients; None where all leaves get one."""
    given = listed(machine, state, call.get(place, "inputs", NONE), call.node)
    return None if given == NONE else _tensors_given(machine, state, given)


def given_gradients(state: State, value: Value, count: int) -> list[bool]:
    """For each root, whether it was given a gradient to begin with."""
    items = items_in(state, value) if isinstance(value, (Tuple, HeapRef)) else None
    if items is None or len(items) != count:
        return [value != NONE] * count
    return [item != NONE for item in items]


def begin_at_numbers(
    machine: Machine, state: State, roots: list[int], gradients: Value, source: ast.expr | None, call: Call
) -> None:
    for root, given in zip(roots, given_gradients(state, gradients, len(roots))):
        if not given:
            needs_one_element(machine, state, root, source, call)


def go_backward(
    machine: Machine,
    state: State,
    roots: list[int],
    node: ast.AST,
    retain: bool | None,
    create: bool | None,
    inputs: list[int] | None,
    accumulate: bool = True,
    inner: bool = False,
) -> list[int]:
    """A backward pass; what PyTorch raises is raised in the program."""
    machine.unit.stats.backwards += 1
    if accumulate and machine.facts.running.levels:
        raise refused(machine, TRANSFORMED)
    if accumulate and not inner:
        _doubt_others(machine, state, roots)
        tell_rewrapped(machine, state, roots, node)
    required = [resolve_view(state, root).requires_grad for root in roots]
    machine.unit.stats.unknown_roots += not any(required)
    machine.count_backward(state, node, any(required))
    if accumulate and all(required):
        _refuse_plain_targets(machine, state, inputs or ())
    try:
        for key in (*roots, *(inputs or ())):
            check_read(machine.facts, state, key, node)
        refuse_cut(machine, state, roots, node)
        refuse_frozen(machine, state, roots, node)
        made = backward(machine.facts, state, roots, node, retain, create, inputs, accumulate, inner=inner)
    except TorchRaises as error:
        raise refused(machine, str(error)) from None
    machine.charge_pass()
    if accumulate and not inner:
        tell_terms(machine, state, roots, node)
        _look_at_roots(machine, state, roots, required, node, retain is False and inputs is None)
        machine.lifecycle.backward_ended.publish(machine, BackwardEnded(state, roots, node))
        reach_stand_ins(machine, state, roots, node, any(required))
    return made


def _doubt_others(machine: Machine, state: State, roots: list[int]) -> None:
    """``loss, accuracy = criterion(out, y)``: the part of what a call returned that goes backward has the graph; what
    it returned beside that may be a number.
    """
    facts = machine.facts
    found = [*filter(None, (_part_below(machine, state, root) for root in roots))]
    found += _results_below(machine, state, roots) if machine.unit.abandoned else ()
    walked = {node for node, _ in found}
    for whole in dict.fromkeys(whole for _, whole in found):
        facts.record_provenance(whole, Provenance(parts_may_be_cut=True))
        for key, known in facts.origins.provenance.items():
            if known.part_of == whole and key in state.tensors:
                part = state.tensors[key]
                give_history(state, part, part.grad_fn, True if part.grad_fn in walked else None)


def _results_below(machine: Machine, state: State, roots: list[int]) -> Iterator[tuple[Node, int]]:
    """The results of networks whose call was left out that roots were computed of, each with the first of its call."""
    edges = [edge_of(resolve_view(state, root)) for root in roots]
    for node in nodes_below(edge for edge in edges if isinstance(edge, Node)):
        first = machine.facts.provenance_of(node.results[0]).part_of if node.results else None
        if first is not None and machine.facts.provenance_of(first).part_of == first:
            yield node, first


def _part_below(machine: Machine, state: State, root: int) -> tuple[Node, int] | None:
    """The part of what an unknown call returned that a root is, or was computed of alone, and the whole."""
    top = edge = edge_of(resolve_view(state, root))
    while isinstance(edge, Node) and edge.assumption is None and len(edge.inputs) == 1:
        edge = edge.inputs[0]
    if not isinstance(edge, Node) or not edge.results:
        return None
    whole = machine.facts.provenance_of(edge.results[0]).part_of
    return (edge, whole) if whole is not None and may_return_numbers(state, whole, edge is top) else None


def _look_at_roots(
    machine: Machine, state: State, roots: list[int], required: list[bool | None], node: ast.AST, frees_all: bool
) -> None:
    """A pass that began at something of whose graph not all is known may lead to any leaf that no pass has reached; and
    there was a graph, which the pass has freed.
    """
    unknown = unknown_below(state, roots)
    if unknown or not any(required):
        state.unread = fresh_id()
    if not any(required) or not all(node.is_complete for node in unknown):
        known = state.history
        history.doubted(
            state,
            [
                key
                for key in machine.facts.training.optimized.intersection(state.tensors)
                if key not in known or known[key].never
            ],
        )
        _may_reach_argument(machine, state, roots, node)
    if required == [None] and frees_all and state.grad_mode:
        had_graph(state, roots[0], node)


def _may_reach_argument(machine: Machine, state: State, roots: list[int], node: ast.AST) -> None:
    """The only network that came as an argument is taken to have computed what goes backward, if nothing else is known
    of that, and no optimizer of the program holds it: its gradients are those of this pass, too.
    """
    names = {key: name for key, name in machine.facts.networks.handed_leaves.items() if key in state.tensors}
    leaves = [key for key in names if key not in machine.facts.training.optimized]
    if len(set(names.values())) != 1 or any(g.doubt or g.passes for g, _ in history.groups(state, leaves)):
        return
    because = guess(f"`{called_on(node) or 'it'}` is computed by `{names[leaves[0]]}`") if leaves else NOTHING
    run = planned(machine.facts, state, roots, node, (), (), [Leaf(key) for key in leaves], because, False)
    history.added(state, leaves, run)


def _refuse_plain_targets(machine: Machine, state: State, inputs: SequenceType[int]) -> None:
    """``backward(inputs=...)`` with a tensor that cannot get a gradient."""
    if any(resolve_view(state, key).requires_grad is False for key in inputs):
        raise refused(machine, NO_TARGET)


def tell_rewrapped(machine: Machine, state: State, roots: list[int], node: ast.AST) -> None:
    """A root that is a number cut off its graph and flagged anew, or that number scaled: nothing else is trained."""
    for root in roots:
        top = edge = edge_of(resolve_view(state, root))
        while isinstance(edge, Node) and len(edge.inputs) == 1 and len(edge.operand_ids) == 1 and edge.certain:
            edge = edge.inputs[0]
        if isinstance(edge, Leaf):
            begins_there = edge is top and isinstance(node, ast.Call) and not (node.args or node.keywords)
            _tell_leaf(machine, state, state.tensors[edge.tensor], begins_there, node)


def _tell_leaf(machine: Machine, state: State, tensor: Tensor, begins_there: bool, node: ast.AST) -> None:
    """The only leaf of a backward, which may begin at it: that it does shows that it is a number."""
    origins, because = machine.facts.provenance_of(tensor.id), NOTHING
    if origins.rewrapped is None or not tensor.requires_grad or tensor.parameter or tensor.assumption:
        return
    cut = origins.cut
    if cut is None and begins_there and (cut := _read_for(origins.rewrapped)) is not None:
        because = guess(f"what `{written(cut.point.node)}` reads has a graph")
    if cut is None or not (tensor.sizes == () or begins_there) or _is_wanted(machine, state, tensor.id):
        return
    machine.facts.events.publish(
        RewrappedRoot(point=state.point(node), because=because, root=tensor.id, cut=cut, wrapped=origins.rewrapped)
    )


def _read_for(wrapped: ProgramPoint) -> Cut | None:
    """Where the values of a tensor are read that a leaf is made of, if the call that makes it does so."""
    match wrapped.node:
        case ast.Call(args=[ast.Attribute(attr="data") as read, *_]):
            return Cut(replace(wrapped, node=read), CutReason.DATA)
        case ast.Call(args=[ast.Call(func=ast.Attribute(attr="detach")) as read, *_]):
            return Cut(replace(wrapped, node=read), CutReason.DETACH)
    return None


def _is_wanted(machine: Machine, state: State, leaf: int) -> bool:
    """Whether the gradient of a leaf is what the program is after: an optimizer holds it, or its ``.grad`` is read."""
    frame = state.get(state.frame, Frame)
    scope = machine.tree if frame.function is None else frame.function.node
    named = (frame.variables.get(name) for name in machine.query(names_with_gradient, scope))
    return leaf in machine.facts.training.optimized or TensorRef(leaf) in named


def tell_terms(machine: Machine, state: State, roots: list[int], node: ast.AST) -> None:
    """A root that is a sum, a term of which lost its graph without any code asking for that, and for good."""
    for root in roots:
        cut = machine.facts.provenance_of(root).detached_term
        if cut is None or state.tensors[root].assumption or not resolve_view(state, root).requires_grad:
            continue
        source = cut.source
        if source is None and cut.reason is not CutReason.CREATE_GRAPH:
            continue
        if source is not None and (source in state.freed or source.assumption or not source.certain):
            continue
        machine.facts.events.publish(TermLost(point=state.point(node), root=root, cut=cut))


def retention(call: Call, retain_at: int, create_at: int) -> tuple[bool | None, bool | None]:
    """``retain_graph`` defaults to ``create_graph``."""
    create = call.flag(create_at, "create_graph", False)
    given = call.get(retain_at, "retain_graph", NONE)
    if given == NONE:
        return create, create
    return (bool(given.value) if isinstance(given, Const) else None), create


def listed(machine: Machine, state: State, value: Value, node: ast.AST) -> Value:
    """An argument that PyTorch makes a tuple of: what a generator yields, which it does once."""
    if not isinstance(value, Generator):
        return value
    found = machine.iterate(state, value, node)
    return Tuple(tuple(found.values)) if found.exact else Unknown("generator")


ARGUMENTS = {"gradient", "retain_graph", "create_graph", "inputs"}
"""Of ``Tensor.backward``."""


@method(TENSOR_METHODS, "backward")
def tensor_backward(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    if not call.kwargs.keys() <= ARGUMENTS:  # retain_variables=True, as it was called once
        raise ProgramRaised("TypeError", "backward() got an unexpected keyword argument", by_torch=True)
    retain, create = retention(call, 1, 2)
    if call.get(0, "gradient", NONE) == NONE:
        func = call.node.func if isinstance(call.node, ast.Call) else None
        needs_one_element(machine, state, receiver.id, func.value if isinstance(func, ast.Attribute) else None, call)
    inputs = _targets(machine, state, call, 3)
    go_backward(machine, state, [receiver.id], call.node, retain, create, inputs)
    return NONE


@function("torch.autograd.backward")
def autograd_backward(machine: Machine, state: State, call: Call) -> Value:
    roots = _tensors_given(machine, state, listed(machine, state, call.get(0, "tensors", NONE), call.node))
    retain, create = retention(call, 2, 3)
    gradients = listed(machine, state, call.get(1, "grad_tensors"), call.node)
    inputs = _targets(machine, state, call, 5)
    if roots:
        begin_at_numbers(machine, state, roots, gradients, nth_argument(call, 0, "tensors"), call)
        go_backward(machine, state, roots, call.node, retain, create, inputs)
    return NONE


@function("torch.autograd.grad")
def autograd_grad(machine: Machine, state: State, call: Call) -> Value:
    roots = _tensors_given(machine, state, listed(machine, state, call.get(0, "outputs", NONE), call.node))
    inputs = _inputs_asked(machine, state, roots or (), call)
    given = listed(machine, state, call.get(2, "grad_outputs"), call.node)
    retain, create = retention(call, 3, 4)
    if not roots or inputs is None:
        return Unknown("grad", False, origin=Origin.BATCH) if create is False else Unknown("grad")
    machine.facts.training.wanted_gradients.update(inputs)
    begin_at_numbers(machine, state, roots, given, nth_argument(call, 0, "outputs"), call)
    refuse_plain_inputs(machine, state, roots, inputs, call.node)
    materialize = call.flag(7, "materialize_grads", False)
    allowed = call.flag(5, "allow_unused", bool(materialize))
    batched = call.flag(6, "is_grads_batched", False)
    go_backward(machine, state, roots, call.node, retain, create, inputs, accumulate=False)
    starts = _tensors_given(machine, state, given) or ()
    results: list[Value] = []
    # Of what a call has done that was left out it is not known whether an input went into it.
    is_known = allowed is not None and materialize is False and not machine.unit.abandoned
    without = unused(machine.facts, state, roots, inputs) if is_known else ()
    for index, key in enumerate(inputs):
        if key in without:
            if not allowed:
                tell_unused(machine, state, roots, key, call.node)
                raise refused(machine, UNUSED_INPUT.format(index))
            results.append(NONE)
            continue
        made = new_gradient(machine, state, roots, key, starts, create, call.node)
        if batched is False:  # the gradient of a tensor is like the tensor
            like = resolve_view(state, key)
            state.tensors[made] = replace(state.tensors[made], sizes=like.sizes, kind=like.kind)
        machine.facts.record_provenance(made, Provenance(gradient_of=key))
        results.append(TensorRef(made))
    return Tuple(tuple(results))


def _inputs_asked(machine: Machine, state: State, roots: SequenceType[int], call: Call) -> list[int] | None:
    """The tensors whose gradients are asked for; None where nothing is known of them, and PyTorch, which looks at the
    outputs first, may come to them.
    """
    inputs = _tensors_given(machine, state, listed(machine, state, call.get(1, "inputs", NONE), call.node))
    is_refused = all(resolve_view(state, root).requires_grad is False for root in roots)
    return [] if inputs is None and is_refused else inputs


def refuse_plain_inputs(machine: Machine, state: State, roots: list[int], inputs: list[int], node: ast.AST) -> None:
    """A gradient is asked for with respect to a tensor that does not require grad."""
    plain = [tensor for key in inputs if (tensor := state.tensors[key]).requires_grad is False]
    if plain and all(resolve_view(state, root).requires_grad for root in roots):
        if plain[0].created_at.node is not machine.tree:
            machine.facts.events.publish(
                UnusedInput(
                    point=state.point(node), tensor=plain[0].id, plain=True, created_at=plain[0].created_at, cut=None
                )
            )
        raise refused(machine, NO_INPUT)


def tell_unused(machine: Machine, state: State, roots: list[int], key: int, node: ast.AST) -> None:
    """Publish that ``roots`` do not depend on ``key``, and where the graph was cut on the way."""
    tensor, begin = resolve_view(state, key), [resolve_view(state, root) for root in roots]
    below = [*reachable(edge for root in begin if (edge := edge_of(root)) is not None)]
    whole = tensor.base if tensor.base is not None and edge_of(resolve_view(state, tensor.base)) in below else None
    nodes = sorted((item for item in below if isinstance(item, Node)), key=lambda item: -item.id)
    given = dict.fromkeys([*roots, *(operand for item in nodes for operand in item.operand_ids)])
    cuts = [cut for each in given if (cut := machine.facts.provenance_of(each).cut) is not None]
    machine.facts.events.publish(
        UnusedInput(
            point=state.point(node),
            tensor=key,
            plain=False,
            created_at=tensor.created_at,
            cut=_cut_above(cuts, edge_of(tensor)) if whole is None else None,
            whole=whole,
        )
    )


def _cut_above(cuts: SequenceType[Cut], edge: Node | Leaf | None) -> Cut | None:
    """The first of some cuts behind which ``edge`` lies; or the only one, if that cut off a leaf, no graph."""
    for cut in cuts if edge is not None else ():
        if cut.source is not None and edge in {*reachable([cut.source])}:
            return cut
    only = dict.fromkeys(cuts)
    return cuts[0] if len(only) == 1 and cuts[0].source is None else None


def new_gradient(
    machine: Machine,
    state: State,
    roots: list[int],
    key: int,
    starts: SequenceType[int],
    create: bool | None,
    node: ast.AST,
) -> int:
    """The gradient with respect to one input. With ``create_graph`` it has a graph of its own, unless everything on the
    way is linear.
    """
    made = leaf(state, node)
    if create is False:
        machine.facts.record_provenance(made, Provenance(cut=Cut(state.point(node), CutReason.CREATE_GRAPH)))
        return made
    edges = [edge for start in starts if (edge := edge_of(resolve_view(state, start))) is not None]
    begin = [edge for root in roots if (edge := edge_of(resolve_view(state, root))) is not None]
    found = second_order(machine.facts, state, begin, key, edges)
    machine.charge_pass()
    if create is None or found is None or not found.edges and found.unknown:
        doubt(state, [made])
    elif not found.edges:
        reason, name = (
            (CutReason.OPERATION, f"{found.constant.op}.backward") if found.constant else (CutReason.LINEAR, "")
        )
        machine.facts.record_provenance(made, Provenance(cut=Cut(state.point(node), reason, name)))
    else:
        graph = Node(
            fresh_id(),
            "gradient",
            tuple(found.edges),
            state.point(node),
            tuple(found.saved),
            found.saves_anything,
            results=(made,),
            grad_fn="AccumulateGrad",
            is_complete=not found.unknown,
        )
        machine.facts.memory.saved.update(item.version_counter for item in found.saved)
        give_history(state, state.tensors[made], graph, True)
    return made
