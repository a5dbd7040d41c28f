"""What goes backward had a graph: a root of which that was not known.

    loss = self.compute(batch)     code that is not known
    loss.backward()                it is a tensor, and required grad: otherwise PyTorch raises
    total += loss                  the nodes of its graph stay

One node stands for the graph that the pass has freed. Where it leads is not known. That it has saved anything is
assumed of what a call has returned: the graph of nearly every loss has.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from .... import ops
from ....autograd import Node, Tensor, TorchRaises, edge_of, give_history, resolve_view
from ....autograd.events.graph_walks import BackwardWithoutGraph
from ....autograd.gradients.history import Pass
from ....autograd.model.cuts import BY_HAND, Cut, CutReason, Provenance
from ....autograd.model.graph import BackwardPass
from ....autograd.model.graph_search import leaf_tensors, nodes_below
from ....autograd.passes.engine import NO_GRAPH
from ....autograd.state import fresh_id
from ....because import guess
from ....domain.state import State
from ....domain.values import (
    TRUE,
    BuiltinMethod,
    Frame,
    HeapRef,
    Instance,
    Optimizer,
    Origin,
    TensorRef,
    Unknown,
    Value,
)
from ....engine.machine import Machine
from ....engine.syntax.asked import asked_of_variables
from ....source import Loop, cached_on_node, called_on, children, walk, written
from ..dispatch import tensor_of
from ..nn.module_registry import parameters_of
from ..registry import TENSOR_METHODS


def had_graph(state: State, root: int, node: ast.AST) -> None:
    """A pass has begun at the tensor ``root``, and has freed the graph that it had."""
    tensor = state.tensors[root]
    if tensor.base is not None or resolve_view(state, root).requires_grad is not None:
        return
    name, below = called_on(node), (tensor.grad_fn,) if tensor.grad_fn is not None else ()
    ran = [*_run_for_certain(below)]
    made = tensor.created_at.node
    maker = made if tensor.grad_fn is None and isinstance(made, (ast.Call, ast.BinOp, ast.UnaryOp)) else None
    graph = Node(
        fresh_id(),
        name,
        below,
        state.point(node) if isinstance(made, ast.Module) else tensor.created_at,
        saves_anything=maker is not None or any(map(_saves_if_needed, ran)),
        assumption=written(maker.func) if isinstance(maker, ast.Call) else name,
        results=(root,),
        is_complete=False,
    )
    give_history(state, tensor, graph, True)
    run = BackwardPass(state.point(node), root, (graph,))
    state.freed.update(dict.fromkeys((graph, *ran), run))


def _run_for_certain(below: Sequence[Node]) -> Iterator[Node]:
    """The nodes below a root that a pass has run: where one has several inputs, it is not known which require grad."""
    while len(below) == 1:
        yield below[0]
        inputs = below[0].inputs
        below = [each for each in inputs if isinstance(each, Node)] if len(inputs) == 1 else []


def _saves_if_needed(node: Node) -> bool:
    """Whether an op has saved something for its backward, whichever of its inputs requires grad."""
    names, layer = [name for name, _ in node.named_inputs], ops.layer(ops.layers_by_op().get(node.op, ""))
    of_layer = () if layer is None else (layer.op, layer.eval_op, layer.unreduced)
    rows = (ops.overload(node.op, node.overload), *of_layer)
    row = next((each for each in rows if each is not None and each.overload == node.overload), None)
    if row is None or not names:
        return False
    held_by = {"~", *names}
    held = [each for each in row.saves if each.what in held_by or each.what.startswith("result")]
    return all(any(not each.gradient_of or name in each.gradient_of for each in held) for name in names)


def unknown_below(state: State, roots: Iterable[int]) -> list[Node]:
    """The nodes below some roots that may lead to more than is known, or are only assumed."""
    below = nodes_below([top for key in roots if (top := resolve_view(state, key).grad_fn) is not None])
    return [node for node in below if node.assumption is not None or not node.is_complete]


def refuse_cut(machine: Machine, state: State, roots: Sequence[int], node: ast.AST) -> None:
    """Raise at a loss that has no graph if its target has none: a part of a batch, beside what was cut off a network in
    training.
    """
    root, *others = map(partial(resolve_view, state), roots)
    top = root.grad_fn
    if others or root.requires_grad is not None or top is None or unknown_below(state, roots):
        return
    below = nodes_below((top,))
    leaves = leaf_tensors((top,))
    targets = leaf_tensors(edge for each in below for name, edge in each.named_inputs if name == "target")
    operands = dict.fromkeys(key for each in below for key in each.operand_ids)
    cuts = cut_in_training(machine, state, operands, by_mode=True)
    if cuts and leaves <= targets & machine.facts.contents.in_batches:
        machine.facts.events.publish(
            BackwardWithoutGraph(
                point=state.point(node),
                because=guess("a batch comes without a graph"),
                root=root.id,
                cut=machine.facts.provenance_of(cuts[0]).cut,
                frozen=None,
                is_frozen_only=False,
            )
        )
        raise TorchRaises(NO_GRAPH)


def refuse_frozen(machine: Machine, state: State, roots: Sequence[int], node: ast.AST) -> None:
    """Raise at a loss whose inputs are not known, and that is there for an optimizer all of whose parameters were
    frozen since the same loss went backward for a step.
    """
    root, facts = resolve_view(state, roots[0]), machine.facts
    leaf = facts.provenance_of(root.id).frozen
    if root.requires_grad is not None or leaf is None or len(roots) > 1:
        return
    runs = [run for run in state.consumed_passes if leaf in run.leaves and _is_made_as(state, run, root)]
    holders = [thing for thing in state.heap.values() if isinstance(thing, Optimizer) and leaf in thing.params]
    if runs and holders and all(_is_frozen(state, thing) for thing in holders):
        facts.events.publish(
            BackwardWithoutGraph(
                point=state.point(node),
                because=guess("nothing that the loss is given requires grad"),
                root=root.id,
                cut=None,
                frozen=leaf,
                is_frozen_only=True,
            )
        )
        raise TorchRaises(NO_GRAPH)


def _is_made_as(state: State, run: Pass, root: Tensor) -> bool:
    """Whether what a pass began at was computed where ``root`` was, in another iteration."""
    before = state.tensors.get(run.root)
    return before is not None and before.created_at.call_site == root.created_at.call_site


def _is_frozen(state: State, optimizer: Optimizer) -> bool:
    """Whether all is known of what an optimizer holds, and nothing of that requires grad."""
    return not optimizer.is_partial and all(state.tensors[key].requires_grad is False for key in optimizer.params)


def is_of_batches(machine: Machine, state: State, value: Value) -> bool:
    """Whether a value is part of what a loader gives, or computed of such parts alone."""
    if isinstance(value, Unknown):
        return value.origin is Origin.BATCH
    if not isinstance(value, TensorRef) or (edge := edge_of(resolve_view(state, value.id))) is None:
        return False
    return not unknown_below(state, [value.id]) and leaf_tensors([edge]) <= machine.facts.contents.in_batches


def cut_in_training(machine: Machine, state: State, keys: Iterable[int], by_mode: bool = False) -> list[int]:
    """Those of several tensors that were cut by hand off the graph of a network which an optimizer of the program holds
    or which is in training mode; also those of which no graph was recorded, if ``by_mode``.
    """
    cuts = [(key, cut) for key in keys if (cut := machine.facts.provenance_of(key).cut) is not None]
    if not cuts:
        return []
    trained = machine.facts.training.optimized.union(_in_training(state))
    return [key for key, cut in cuts if not trained.isdisjoint(_leaves_above(cut, by_mode))]


def _leaves_above(cut: Cut, by_mode: bool) -> Iterable[int]:
    """The leaves of the graph that a tensor was cut off."""
    if cut.reason in BY_HAND and cut.source is not None:
        return leaf_tensors([cut.source])
    return cut.leaves if by_mode else ()


def _in_training(state: State) -> Iterator[int]:
    """The parameters of all networks in training mode."""
    for key, thing in state.heap.items():
        if isinstance(thing, Instance) and thing.attributes.get("training") == TRUE:
            yield from (leaf for _, leaf in parameters_of(state, HeapRef(key)))


def take_for_tensor(machine: Machine, state: State, receiver: Unknown, call: ast.AST) -> int | None:
    """The tensor that a variable holds which goes backward, and of which nothing is known; None where it may be
    something else that has a ``backward``, a network, an engine, or is data, such as a number. What a loop has not made
    is no loss of its iteration.
    """
    name = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
    frame = state.get(state.frame, Frame)
    scope = frame.function.node if frame.function is not None else machine.running_file(state)
    held = frame.variables.get(name.id) if isinstance(name, ast.Name) else None
    is_held = held == receiver or isinstance(held, BuiltinMethod)  # an attribute is data of its own each time
    if not isinstance(name, ast.Name) or not is_held or receiver.requires_grad is False:
        return None
    asked = machine.query(asked_of_variables, scope).get(name.id, frozenset())
    if not all(each in TENSOR_METHODS or ops.candidates(each) for each in asked):
        return None
    made = machine.query(_made_around, scope).get(call, {})
    if name.id not in made:
        return None
    key = tensor_of(machine, state, receiver)
    if key is not None:
        state.edit(state.frame, Frame).variables[name.id] = TensorRef(key)
        _note_made(machine, state, key, _whole(made[name.id], made))
    return key


def _whole(value: ast.expr | None, made: dict[str, ast.expr | None]) -> ast.expr | None:
    """What something is a part of that is bound there: the call in ``out = run(x)`` for ``out.loss``."""
    part = value
    while isinstance(part, (ast.Attribute, ast.Subscript)):
        part = part.value
    return made.get(part.id) if isinstance(part, ast.Name) and part is not value else value


def _note_made(machine: Machine, state: State, key: int, value: ast.expr | None) -> None:
    """What is bound to the ``value`` of an expression was made there if that computes it, whatever of. Nothing is
    recorded of it in an iteration if gradients were switched off until further notice before it began.
    """
    computed = walk(value) if isinstance(value, (ast.Call, ast.BinOp, ast.UnaryOp)) else ()
    made = next((part for part in computed if isinstance(part, ast.Call)), None)
    if value is not None and computed:
        state.tensors[key] = replace(state.tensors[key], created_at=state.point(made or value))
    switch, laps = state.grad_mode_set_at, state.iterations
    if state.grad_mode is False and switch is not None and laps and laps[-1] not in switch.iterations and made:
        state.tensors[key] = replace(state.tensors[key], requires_grad=False, assumption=written(made.func))
        lost = Provenance(cut=Cut(state.point(made), CutReason.NO_GRAD, grad_mode_set_at=switch))
        machine.facts.record_provenance(key, lost)


@cached_on_node
def _made_around(scope: ast.AST) -> dict[ast.AST, dict[str, ast.expr | None]]:
    """For each call of ``backward`` in a function the variables that the innermost loop around it binds; where there is
    none, those of the function. With each comes what it is bound to, if that is all it holds.
    """
    return {call: _bound(around) for call, around in _walks(scope, scope)}


def _walks(node: ast.AST, around: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward":
        yield node, around
    for child in children(node):
        yield from _walks(child, child if isinstance(child, Loop) else around)


def _bound(around: ast.AST) -> dict[str, ast.expr | None]:
    """The names that statements bind, and arguments; the target of a loop is an item of what it goes through."""
    found = dict[str, ast.expr | None]()
    for node in walk(around):
        if isinstance(node, ast.arg):
            found[node.arg] = None
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            made = node.value if isinstance(node, ast.Assign) else None
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found.update((part.id, made) for each in targets for part in walk(each) if isinstance(part, ast.Name))
    return found
