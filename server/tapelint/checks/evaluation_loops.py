"""Evaluation loops that record what no backward will differentiate.

    model.eval()                    # changes dropout and batch norm; autograd goes on recording
    for x, y in loader:
        out = model(x)              # a graph, with everything that its backward would need ...
        hits += (out.argmax(1) == y).sum().item()     # ... and it is no longer held

Whether it was for nothing is known when the loop ends: the graph of its first iteration is then held by nothing, and
no backward has walked it, on this path or another. Where unknown code was given a graph, nothing is concluded.
"""

from __future__ import annotations

import ast

from ..autograd import Leaf, Node
from ..autograd.events.training_step import EvaluationRecorded
from ..autograd.model.graph_search import nodes_below
from ..domain.reachability import reachable_graph
from ..domain.state import State
from ..domain.values import FALSE, Instance, TensorRef
from ..engine.lifecycle import LoopLeft, ModuleReturned, TensorsEscaped
from ..engine.machine import Machine
from ..source import cached_on_node, walk


def on_module_returned(machine: Machine, event: ModuleReturned) -> None:
    """Remember what a network in evaluation mode has returned in a loop, if it is a graph."""
    state, result = event.state, event.result
    if not state.iterations or state.grad_mode is not True or not isinstance(result, TensorRef):
        return
    lap, thing = state.iterations[-1], state.heap.get(event.module.id)
    if lap.number > 2 or not isinstance(lap.loop, (ast.For, ast.While)) or not isinstance(thing, Instance):
        return
    graph = state.tensors[result.id].grad_fn
    if graph is not None and graph.certain and thing.attributes.get("training") == FALSE:
        state.evaluation_graphs[lap.run, lap.number] = (graph, state.point(event.call))


def on_escape(machine: Machine, event: TensorsEscaped) -> None:
    """Unknown code may do anything with graphs."""
    state = event.state
    if state.evaluation_graphs and any(state.tensors[key].requires_grad for key in event.tensors):
        state.evaluation_graphs.clear()


def on_loop_left(machine: Machine, event: LoopLeft) -> None:
    """Publish the graphs of a loop that has ended, if they were for nothing."""
    state, run = event.state, event.run
    if not state.evaluation_graphs:
        return
    first, second = state.evaluation_graphs.pop((run, 1), None), state.evaluation_graphs.pop((run, 2), None)
    if first is None or second is None:
        return
    graph, point = first
    if _keeps_some(point.iterations[-1].loop):
        return
    nodes, trained = _graph(state, graph)
    if not trained or any(node.created_at.call_site in machine.facts.walked for node in nodes):
        return
    if not nodes & reachable_graph(state):
        machine.facts.events.publish(EvaluationRecorded(point=point, loop=point.iterations[-1].loop, nodes=len(nodes)))


@cached_on_node
def _keeps_some(loop: ast.AST) -> bool:
    """Whether a loop stores something only under a condition: then what this path has let go may be held on another."""
    tests = [node for node in walk(loop) if isinstance(node, ast.If)]
    stores = (ast.Assign, ast.AnnAssign, ast.AugAssign)
    return any(isinstance(inner, stores) for test in tests for inner in walk(test))


def _graph(state: State, graph: Node) -> tuple[set[Node], bool]:
    """The nodes below a node, and whether they lead to a parameter."""
    found = nodes_below([graph])
    leaves = (item for node in found for item in node.inputs if isinstance(item, Leaf))
    return found, any(state.tensors[leaf.tensor].parameter for leaf in leaves)
