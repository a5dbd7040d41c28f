"""Evaluation loops that record what no backward will differentiate.

    model.eval()                    # changes dropout and batch norm; autograd goes on recording
    for x, y in loader:
        out = model(x)              # a graph, with everything that its backward would need ...
        hits += (out.argmax(1) == y).sum().item()     # ... and it is no longer held

Whether it was for nothing is known when the loop ends. Either the execution shows it: the graph of the first iteration
is then held by nothing, no unknown code was given it, and no backward has walked it, on this path or another. Or the
text does: what the network returns is only measured (``evaluation_uses``).
"""

from __future__ import annotations

import ast
from dataclasses import replace

from ..autograd import EvaluationGraph, Leaf, Node
from ..autograd.events.training_step import EvaluationRecorded
from ..autograd.model.graph_search import nodes_below
from ..because import NOTHING, guess
from ..domain import facets
from ..domain.mro import lookup_in_mro
from ..domain.reachability import reachable_graph
from ..domain.state import State
from ..domain.values import (
    FALSE,
    BuiltinMethod,
    Class,
    Frame,
    Function,
    HeapRef,
    Instance,
    TensorRef,
    Tuple,
    Unknown,
    Value,
)
from ..engine.lifecycle import LoopLeft, ModuleReturned, TensorsEscaped
from ..engine.machine import Machine
from ..models.torch.nn.module_registry import members
from ..source import cached_on_node, walk
from .evaluation_uses import is_handed_over, measuring, network_called, only_evaluates
from .kept_values import called_on_self
from .loops_in_networks import runs_forward
from .retention import SHORT_LOOP
from .trained_elsewhere import gradients_reached

LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)


def on_module_returned(machine: Machine, event: ModuleReturned) -> None:
    """Remember what a network in evaluation mode has returned in a loop, if it may be a graph."""
    state, call = event.state, event.call
    if not state.iterations or state.grad_mode is not True or not isinstance(call, ast.Call):
        return
    lap = state.iterations[-1]
    if lap.number > 2 or not isinstance(lap.loop, LOOPS):
        return
    in_evaluation = _is_in_evaluation(state, event.module)
    if not in_evaluation and not (isinstance(event.module, HeapRef) and _only_evaluates(machine, state, lap.loop)):
        return
    graphs = _graphs(state, event.result)
    assumed = isinstance(event.module, Unknown) or any(graph.assumption is not None for graph in graphs) or not graphs
    if not _may_record(machine, event, graphs, assumed):
        return
    state.evaluation_graphs[lap.run, lap.number] = EvaluationGraph(
        state.point(call), graphs, network_called(call.func), assumed, in_evaluation
    )


def _graphs(state: State, result: Value) -> tuple[Node, ...]:
    """The nodes that made the tensors which a network has returned."""
    results = result.items if isinstance(result, Tuple) else (result,)
    found = (state.tensors[each.id].grad_fn for each in results if isinstance(each, TensorRef))
    return tuple(node for node in found if node is not None)


def _may_record(machine: Machine, event: ModuleReturned, graphs: tuple[Node, ...], assumed: bool) -> bool:
    """Whether the results have graphs for certain, or ``assumed`` that what was called is, or runs, a network of whose
    code nothing is known.
    """
    if not all(graph.certain for graph in graphs):
        return False
    state = event.state
    return not assumed or _is_unknown_network(state, event.module) or _runs_unknown(machine, state, event)


def _is_in_evaluation(state: State, module: HeapRef | Unknown) -> bool:
    """Whether ``eval()`` was called on a network, and ``train()`` was not since."""
    if isinstance(module, Unknown):
        return state.given_attributes(module.tensor_id).get(facets.TRAINING) == FALSE
    thing = state.heap.get(module.id)
    return isinstance(thing, Instance) and thing.attributes.get("training") == FALSE


def _is_unknown_network(state: State, module: HeapRef | Unknown) -> bool:
    """Whether a network is one of whose code nothing is known."""
    if isinstance(module, Unknown):
        return True
    thing = state.heap[module.id]
    if not isinstance(thing, Instance) or facets.UNSEEN_PARAMETERS not in thing.attributes:
        return False
    own = lookup_in_mro(state, thing.kind, "forward") if isinstance(thing.kind, HeapRef) else None
    return own is None or not isinstance(own[1], Function)


def _runs_unknown(machine: Machine, state: State, event: ModuleReturned) -> bool:
    """Whether a network of the program is made of networks of whose code nothing is known, and may return a graph of
    theirs.
    """
    parts = [item for _, item in members(state, event.module)]
    if not any(isinstance(item, HeapRef) and _is_unknown_network(state, item) for item in parts):
        if not _calls_unknown_part(machine, state, event.module):
            return False
    results = event.result.items if isinstance(event.result, Tuple) else (event.result,)
    return any(_may_be_assumed_graph(state, item) for item in results)


def _calls_unknown_part(machine: Machine, state: State, module: HeapRef | Unknown) -> bool:
    """Whether the ``forward`` of a network calls an attribute of which nothing is known, and its class freezes
    nothing.
    """
    thing = state.heap[module.id] if isinstance(module, HeapRef) else None
    if not isinstance(thing, Instance) or not isinstance(thing.kind, HeapRef):
        return False
    found = lookup_in_mro(state, thing.kind, "forward")
    if found is None or not isinstance(found[1], Function):
        return False
    called = machine.query(called_on_self, found[1].node)
    unknown = {name for name, value in thing.attributes.items() if isinstance(value, (Unknown, BuiltinMethod))}
    return not unknown.isdisjoint(called) and not machine.query(_freezes, state.get(thing.kind.id, Class).node)


def _may_be_assumed_graph(state: State, result: Value) -> bool:
    """Whether a result has a graph of which nothing is known but that it is there, or may have one."""
    if isinstance(result, TensorRef):
        graph = state.tensors[result.id].grad_fn
        return graph is not None and graph.certain and graph.assumption is not None
    return isinstance(result, Unknown) and result.requires_grad is not False


def on_escape(machine: Machine, event: TensorsEscaped) -> None:
    """Unknown code may do anything with graphs."""
    state = event.state
    if state.evaluation_graphs and any(state.tensors[key].requires_grad for key in event.tensors):
        for key, graph in list(state.evaluation_graphs.items()):
            state.evaluation_graphs[key] = replace(graph, escaped=True)


def on_loop_left(machine: Machine, event: LoopLeft) -> None:
    """Publish the graphs of a loop that has ended, if they were for nothing."""
    state, run = event.state, event.run
    if not state.evaluation_graphs:
        return
    first, second = state.evaluation_graphs.pop((run, 1), None), state.evaluation_graphs.pop((run, 2), None)
    if first is None or second is None or runs_forward(machine, state):
        return
    loop = first.point.iterations[-1].loop
    nodes, trained = _below(state, first.graphs) if first.graphs else (set[Node](), True)
    if not trained or any(node.created_at.call_site in machine.facts.training.walked for node in nodes):
        return
    if not _is_for_nothing(machine, event, loop, first, nodes):
        return
    network = guess(f"`{first.network}` is a network whose parameters require grad")
    machine.facts.events.publish(
        EvaluationRecorded(
            point=first.point,
            because=network if first.assumed else NOTHING,
            loop=loop,
            nodes=0 if first.assumed else len(nodes),
            network=first.network,
            in_evaluation=first.in_evaluation,
        )
    )


def _goes_over_data(state: State, loop: ast.AST) -> bool:
    """Whether a loop goes through what the program reads, not through what it has made itself."""
    if not isinstance(loop, (ast.For, ast.AsyncFor)):
        return False
    variables = state.get(state.frame, Frame).variables
    targets = [node.id for node in walk(loop.target) if isinstance(node, ast.Name)]
    return any(isinstance(variables.get(name), Unknown) for name in targets)


def _only_evaluates(machine: Machine, state: State, loop: ast.AST) -> bool:
    """Whether a loop goes over data in a script in which no code goes backward, itself or through what it calls."""
    if not machine.unit.is_script or not _goes_over_data(state, loop) or runs_forward(machine, state):
        return False
    trees = machine.trees
    return machine.query(only_evaluates, machine.tree) and not machine.query(gradients_reached, machine.tree, *trees)


def _is_for_nothing(machine: Machine, event: LoopLeft, loop: ast.AST, first: EvaluationGraph, nodes: set[Node]) -> bool:
    """Whether no code can walk what a loop has recorded, or in a script that trains nothing none will."""
    state = event.state
    if not first.in_evaluation:
        if event.count is not None and event.count <= SHORT_LOOP or machine.query(is_handed_over, loop, first.network):
            return False
        if not first.graphs:
            return True
    return _is_let_go(state, loop, first, nodes) or _is_measured(machine, loop, first)


def _is_let_go(state: State, loop: ast.AST, first: EvaluationGraph, nodes: set[Node]) -> bool:
    """Whether the execution shows that a graph is held by nothing. Of what unknown code has made of an assumed one too
    little is known.
    """
    if first.escaped or first.assumed or not nodes or _keeps_some(loop):
        return False
    return not nodes & reachable_graph(state)


def _is_measured(machine: Machine, loop: ast.AST, first: EvaluationGraph) -> bool:
    """Whether the text shows that the results of a network are only measured, by code that does nothing to gradients,
    nor calls what does.
    """
    stack = machine.context.call_stack
    scope = stack[-1][0] if stack else machine.tree
    found = machine.query(measuring, loop, first.point.node, scope)
    if found is None or found.acts and first.escaped and not first.in_evaluation:
        return False
    trees = machine.trees
    if any("backward" in machine.query(gradients_reached, part, *trees) for part in found.code):
        return False
    if not first.assumed:
        return True
    return not any(machine.query(_freezes, tree) for tree in trees if tree is machine.tree or _stands_in(scope, tree))


def _stands_in(scope: ast.AST, tree: ast.AST) -> bool:
    return any(node is scope for node in walk(tree))


@cached_on_node
def _freezes(tree: ast.AST) -> bool:
    """Whether a file switches the gradients of something off, for which it may be a network."""
    for node in walk(tree):
        if isinstance(node, ast.Assign):
            flags = [target for target in node.targets if getattr(target, "attr", "") == "requires_grad"]
            if flags and not (isinstance(node.value, ast.Constant) and node.value.value is True):
                return True
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "requires_grad_":
            if any(not (isinstance(given, ast.Constant) and given.value is True) for given in node.args):
                return True
    return False


@cached_on_node
def _keeps_some(loop: ast.AST) -> bool:
    """Whether a loop stores something only under a condition: then what this path has let go may be held on another."""
    tests = [node for node in walk(loop) if isinstance(node, ast.If)]
    stores = (ast.Assign, ast.AnnAssign, ast.AugAssign)
    return any(isinstance(inner, stores) for test in tests for inner in walk(test))


def _below(state: State, graphs: tuple[Node, ...]) -> tuple[set[Node], bool]:
    """The nodes of graphs, and whether they lead to a parameter."""
    found = nodes_below(graphs)
    leaves = (item for node in found for item in node.inputs if isinstance(item, Leaf))
    return found, any(state.tensors[leaf.tensor].parameter for leaf in leaves)
