"""Evaluation loops that record what no backward will differentiate.

    model.eval()                    # changes dropout and batch norm; autograd goes on recording
    for x, y in loader:
        out = model(x)              # a graph, with everything that its backward would need ...
        hits += (out.argmax(1) == y).sum().item()     # ... and it is no longer held

Whether it was for nothing is known when the loop ends: the graph of the first iteration is then held by nothing, and
no backward has walked it, on this path or another. Unknown code that is given it, such as a metric, is supposed not to
go backward where the loop runs a network in evaluation mode and does nothing to gradients.

Whether code goes backward through what it calls, by the text of all files that run.

trainer = Trainer(net)      main.py
trainer(loader)             no name says what runs: ``Trainer.__call__``
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from ..autograd import Iteration, Leaf, Node
from ..autograd.events.training_step import EvaluationRecorded
from ..autograd.model.graph_search import nodes_below
from ..autograd.model.stores import EvaluationGraph
from ..because import NOTHING, guess
from ..bounds import BOUNDS
from ..domain import facets
from ..domain.mro import own_function
from ..domain.reachability import reachable_graph, reached
from ..domain.state import State
from ..domain.values import (
    FALSE,
    BuiltinMethod,
    Class,
    External,
    Frame,
    HeapRef,
    Instance,
    TensorRef,
    Tuple,
    Unknown,
    Value,
)
from ..engine.lifecycle import LoopLeft, ModuleReturned, TensorsEscaped
from ..engine.machine import Machine
from ..engine.syntax.liveness import Live, Loop
from ..models.torch.autograd.grad_access import facts
from ..models.torch.nn.module_registry import members
from ..ops.torch_attributes import NUMBERS
from ..semantics.unknown_calls import TRAINING
from ..source import cached_on_node, children, walk, written
from .kept_values import called_on_self
from .loops_in_networks import runs_forward

LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)
GRADIENTS = frozenset(
    "backward manual_backward grad requires_grad requires_grad_ zero_grad retain_grad jacobian hessian vjp jvp "
    "functional_call register_full_backward_hook register_full_backward_pre_hook register_backward_hook".split()
)
"""Attributes by which code does something with gradients: those of torch.autograd and torch.func
(https://docs.pytorch.org/docs/stable/autograd.html, func.api.html), of torch.Tensor, torch.nn.Module and
LightningModule.
"""


def on_module_returned(machine: Machine, event: ModuleReturned) -> None:
    """Remember what a network in evaluation mode has returned in a loop, if it may be a graph."""
    state, call, lap = event.state, event.call, _early_lap(event.state)
    if lap is None or not isinstance(call, ast.Call):
        return
    in_evaluation = _is_in_evaluation(state, event.module)
    if not in_evaluation and not (isinstance(event.module, HeapRef) and _only_evaluates(machine, state, lap.loop)):
        return
    graphs = _graphs(state, event.result)
    assumed = isinstance(event.module, Unknown) or any(graph.assumption is not None for graph in graphs) or not graphs
    if not _may_record(machine, event, graphs, assumed) or in_evaluation and assumed and _is_far(call, lap.loop):
        return
    state.evaluation_graphs[lap.run, lap.number] = EvaluationGraph(
        state.point(call), graphs, _network_called(call.func), assumed, in_evaluation
    )


def _early_lap(state: State) -> Iteration | None:
    """The first or second iteration of the innermost loop, if it is that and gradients are on."""
    if not state.iterations or state.grad_mode is not True:
        return None
    lap = state.iterations[-1]
    return lap if lap.number <= 2 and isinstance(lap.loop, LOOPS) else None


def _is_far(call: ast.Call, loop: ast.AST) -> bool:
    """Whether code that a loop calls makes a call: it may do more with its result than is seen."""
    return not isinstance(loop, ast.comprehension) and call not in walk(loop)


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
    return not isinstance(thing.kind, HeapRef) or own_function(state, thing.kind, "forward") is None


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
    found = own_function(state, thing.kind, "forward")
    if found is None:
        return False
    called = machine.query(called_on_self, found.node)
    unknown = {name for name, value in thing.attributes.items() if isinstance(value, (Unknown, BuiltinMethod))}
    return not unknown.isdisjoint(called) and not machine.query(_freezes, state.get(thing.kind.id, Class).node)


def _may_be_assumed_graph(state: State, result: Value) -> bool:
    """Whether a result has a graph of which nothing is known but that it is there, or may have one."""
    if isinstance(result, TensorRef):
        graph = state.tensors[result.id].grad_fn
        return graph is not None and graph.certain and graph.assumption is not None
    return isinstance(result, Unknown) and result.requires_grad is not False


def on_escape(machine: Machine, event: TensorsEscaped) -> None:
    """Unknown code may do anything with graphs; what it keeps may go backward later."""
    state = event.state
    if not state.evaluation_graphs or not any(state.tensors[key].requires_grad for key in event.tensors):
        return
    if event.may_walk:
        state.evaluation_graphs.clear()
    else:
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
    if not _is_for_nothing(machine, event, loop, first):
        if first.in_evaluation and first.graphs and _only_measures(machine, loop, first):
            _mark_measures(state, run)
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


def _mark_measures(state: State, run: int) -> None:
    """What a loop has collected are measures."""
    for statement, each in state.retained_after_loop.items():
        if each.lap.run == run:
            state.retained_after_loop[statement] = replace(each, evaluates=True)


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
    return machine.query(_does_not_train, machine.tree) and not machine.query(gradients_reached, machine.tree, *trees)


def _is_for_nothing(machine: Machine, event: LoopLeft, loop: ast.AST, first: EvaluationGraph) -> bool:
    """Whether no code can walk what a loop has recorded, or in a script that trains nothing none will."""
    if not first.in_evaluation:
        if event.count is not None and event.count <= BOUNDS.short_loop or first.escaped:
            return False
        return not first.graphs or _is_let_go(machine, event, loop)
    return bool(first.graphs) and _only_measures(machine, loop, first) and _is_let_go(machine, event, loop)


def _only_measures(machine: Machine, loop: ast.AST, first: EvaluationGraph) -> bool:
    """Whether a loop that runs a network in evaluation mode does nothing to gradients, by its text."""
    trees = machine.trees
    if "backward" in machine.query(gradients_reached, loop, *trees):
        return False
    if machine.query(_does_something_to_gradients, loop) or machine.query(_is_handed_over, loop, first.network):
        return False
    return not (first.assumed and any(machine.query(_freezes, tree) for tree in trees))


def _is_let_go(machine: Machine, event: LoopLeft, loop: ast.AST) -> bool:
    """Whether the execution shows that nothing which the code below the loop reads leads to a graph recorded in it."""
    live = machine.live_at(loop, [event.state]) if isinstance(loop, Loop) else None
    kept = _kept_under_tests(machine, event.state, loop, live)
    if kept is None:
        return False
    given = [value for _, values in machine.context.call_stack for value in values]
    containers = reached(event.state, given, {})
    held = reachable_graph(event.state, live.after | kept if live is not None else None, containers)
    return not any(lap.run == event.run for node in held for lap in node.created_at.iterations)


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


def _kept_under_tests(machine: Machine, state: State, loop: ast.AST, live: Live | None) -> set[str] | None:
    """The variables of which a loop stores something under a condition that is read later: what this path has let go
    may be held on another. None where code makes it that may do anything.
    """
    inside = [node for test in walk(loop) if isinstance(test, ast.If) for node in walk(test)]
    left, kept = {node for node in inside if _is_read_later(node, live)}, set[str]()
    for node in inside:
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            stored = left.intersection(part for target in targets for part in walk(target))
            if stored and (read := _made_of(machine, state, node.value)) is not None:
                kept |= read
                left -= stored
    return None if left else kept


def _is_read_later(node: ast.AST, live: Live | None) -> bool:
    """Whether a node stores something that is read after this iteration, as far as that is known."""
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) or not isinstance(node.ctx, ast.Store):
        return False
    return not isinstance(node, ast.Name) or live is None or node.id in live.head | live.after


def _made_of(machine: Machine, state: State, value: ast.AST) -> set[str] | None:
    """The variables of which an expression is made, without those of which it only takes numbers; None where code of
    the program or unknown code makes it.
    """
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in NUMBERS:
        return set()
    if isinstance(value, ast.Call) and not _is_of_library(machine, state, value.func):
        return None
    found = {value.id} if isinstance(value, ast.Name) else set[str]()
    for each in children(value):
        if (parts := _made_of(machine, state, each)) is None:
            return None
        found |= parts
    return found


def _is_of_library(machine: Machine, state: State, function: ast.expr) -> bool:
    while isinstance(function, ast.Attribute):
        function = function.value
    return isinstance(function, ast.Name) and isinstance(machine.lookup(state, function.id), External)


def _below(state: State, graphs: tuple[Node, ...]) -> tuple[set[Node], bool]:
    """The nodes of graphs, and whether they lead to a parameter."""
    found = nodes_below(graphs)
    leaves = (item for node in found for item in node.inputs if isinstance(item, Leaf))
    return found, any(state.tensors[leaf.tensor].parameter for leaf in leaves)


def _network_called(function: ast.expr) -> str:
    """The text of what a call runs: ``net``, for ``net(x)`` and for ``net.forward(x)``."""
    if isinstance(function, ast.Attribute) and function.attr == "forward":
        return written(function.value)
    return written(function)


@cached_on_node
def _does_not_train(tree: ast.AST) -> bool:
    """Whether a file does nothing to gradients, and trains by no function of a library."""
    return not any(_is_about_gradients(node) or getattr(node, "attr", "") in TRAINING for node in walk(tree))


@cached_on_node
def _does_something_to_gradients(tree: ast.AST) -> bool:
    return any(map(_is_about_gradients, walk(tree)))


def _is_about_gradients(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in GRADIENTS
    if not isinstance(node, ast.keyword) or node.arg not in ("requires_grad", "create_graph"):
        return False
    return not (isinstance(node.value, ast.Constant) and node.value.value is False)


def _is_handed_over(loop: ast.AST, network: str) -> bool:
    """Whether a loop gives a network to code whose result is used, such as an attack: that may differentiate what the
    network makes of its input.
    """
    nodes = [*walk(loop)]
    dropped = {node.value for node in nodes if isinstance(node, ast.Expr)}
    used = [node for node in nodes if isinstance(node, ast.Call) and node not in dropped]
    return any(written(given) == network for node in used for given in _given(node))


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


Reach = tuple[frozenset[str], frozenset[str]]
"""By which attributes some code reaches for gradients itself, and the names of what it calls."""


def gradients_reached(node: ast.AST, *trees: ast.AST) -> frozenset[str]:
    """How some code reaches for gradients, itself or through what is defined in these files, however far."""
    touched, _, called = facts(node)
    seen, todo = set(called), list(called)
    while todo:
        name = todo.pop()
        for tree in trees:
            more, further = _defined(tree).get(name, NO_REACH)
            touched |= more
            todo += further - seen
            seen |= further
    return touched


NO_REACH: Reach = frozenset(), frozenset()


@cached_on_node
def _defined(tree: ast.AST) -> dict[str, Reach]:
    """The functions and classes of a file by name, all of one name together."""
    found: dict[str, Reach] = {}
    for node in walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                _add(found, node.name, [node])
            case ast.ClassDef():
                _add(found, node.name, _unnamed(node), {getattr(b, "attr", getattr(b, "id", "")) for b in node.bases})
    return found


def _unnamed(node: ast.ClassDef) -> list[ast.stmt]:
    """The methods of a class that run without being called by their names."""
    functions = (each for each in node.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return [each for each in functions if each.name == "forward" or each.name.startswith("__")]


def _add(found: dict[str, Reach], name: str, code: Iterable[ast.AST], others: Iterable[str] = ()) -> None:
    touched, called = found.get(name, NO_REACH)
    each = [facts(node) for node in code]
    found[name] = touched.union(*(own for own, _, _ in each)), called.union(others, *(names for _, _, names in each))
