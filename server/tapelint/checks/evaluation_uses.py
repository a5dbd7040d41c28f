"""What becomes of a network's results in a loop, by the text alone: are they only measured, or may they go backward?

    for x, y in loader:
        out = net(x)                        a graph
        loss = criterion(out, y)            made of one by unknown code
        total += loss.item()                a number
        hits += (out.argmax(1) == y).sum()  made of numbers
        outs.append(out)                    a graph that is kept: it may go backward later

Unknown code that is given a graph, such as a metric, is supposed not to go backward in a loop that runs a network in
evaluation mode and does nothing to gradients. A step that is given one, ``optimizer.step(loss)``, differentiates it.
In other loops it may, where it is called for what it does: no code uses its result.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from ..source import blocks, cached_on_node, children, walk, written
from .kept_values import FILLING, PLAIN, READ_AS_NUMBER

COMPARING = frozenset(
    "argmax argmin argsort eq ne gt lt ge le isnan isinf isfinite long int bool count_nonzero nonzero sign".split()
)
"""Methods and functions of a tensor whose result has no graph."""
PAIRS = frozenset("max min topk sort median mode kthvalue cummax cummin".split())
"""Those that return values and indices."""
OF_METRICS = frozenset(("add", "update"))
"""Methods of containers that metrics have as well."""
GRADIENTS = frozenset(
    "backward manual_backward grad requires_grad requires_grad_ zero_grad retain_grad jacobian hessian vjp jvp "
    "functional_call register_full_backward_hook register_full_backward_pre_hook register_backward_hook".split()
)
"""Attributes by which code does something with gradients."""

TRAINING = frozenset("step fit optim train".split())
"""Attributes by which code trains."""


class Kind(IntEnum):
    """What is known of a value; what is made of two is of the greater kind."""

    PLAIN = 0
    # It was made of a graph by code that is not known: a loss, or a number.
    MADE = 1
    # It has the graph of the network.
    GRAPH = 2


@dataclass(frozen=True, slots=True)
class Measuring:
    """The code that measures what a network returns in a loop: the loop, and the statements below it where they read
    what the last iteration has left. ``acts`` says that some of it is given to code whose result is not used.
    """

    code: tuple[ast.AST, ...]
    acts: bool = False


def measuring(loop: ast.AST, call: ast.AST, scope: ast.AST) -> Measuring | None:
    """How a loop of ``scope`` measures what ``call`` of a network returns. None where more may be done with it."""
    body = _body(loop, scope)
    nodes = [node for part in body for node in walk(part)]
    if call not in nodes or not isinstance(call, ast.Call) or any(map(_is_about_gradients, nodes)):
        return None
    network = network_called(call.func)
    if _is_handed_over(network, nodes):
        return None
    flow = _Flow(network, _bound(scope))
    if isinstance(loop, ast.comprehension):
        return Measuring((loop,)) if all(flow.kind(part) is not Kind.GRAPH for part in body) else None
    flow.statements((*body, *body))  # the second time with what an iteration leaves to the next
    below = _reading_below(flow, loop, scope)
    flow.statements(below)
    return None if flow.kept or any(map(_differentiates, below)) else Measuring((loop, *below), flow.acts)


def network_called(function: ast.expr) -> str:
    """The text of what a call runs: ``net``, for ``net(x)`` and for ``net.forward(x)``."""
    if isinstance(function, ast.Attribute) and function.attr == "forward":
        return written(function.value)
    return written(function)


def is_handed_over(loop: ast.AST, network: str) -> bool:
    """Whether a loop gives a network to code that may differentiate what it computes."""
    return _is_handed_over(network, list(walk(loop)))


@cached_on_node
def only_evaluates(tree: ast.AST) -> bool:
    """Whether a file does nothing with gradients, and trains by no function of a library."""
    return not any(_is_about_gradients(node) or _is_about_training(node) for node in walk(tree))


def _is_about_training(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in TRAINING


def _is_handed_over(network: str, nodes: Sequence[ast.AST]) -> bool:
    """Whether a network is given to code whose result is used, such as an attack: that may differentiate what the
    network makes of its input.
    """
    dropped = {node.value for node in nodes if isinstance(node, ast.Expr)}
    used = [node for node in nodes if isinstance(node, ast.Call) and node not in dropped]
    return any(written(given) == network for node in used for given in _given(node))


def _body(loop: ast.AST, scope: ast.AST) -> Sequence[ast.AST]:
    """What a loop runs in every iteration: statements, or the results of a comprehension."""
    if not isinstance(loop, ast.comprehension):
        return [*getattr(loop, "body", ()), *getattr(loop, "orelse", ())]
    for node in walk(scope):
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)) and loop in node.generators:
            return [node.elt]
        if isinstance(node, ast.DictComp) and loop in node.generators:
            return [node.key, node.value]
    return []


def _is_about_gradients(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in GRADIENTS
    if not isinstance(node, ast.keyword) or node.arg not in ("requires_grad", "create_graph"):
        return False
    return not (isinstance(node.value, ast.Constant) and node.value.value is False)


def _differentiates(part: ast.AST) -> bool:
    return any(map(_is_about_gradients, walk(part)))


@cached_on_node
def _bound(scope: ast.AST) -> frozenset[str]:
    """The names that a scope assigns."""
    return frozenset(node.id for node in walk(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _reading_below(flow: _Flow, loop: ast.AST, scope: ast.AST) -> list[ast.stmt]:
    """The statements below a loop, in the same scope; none where they read no graph that it has left."""
    graphs = {name for name, kind in flow.kinds.items() if kind is Kind.GRAPH}
    below = [*_statements_below(scope, getattr(loop, "end_lineno", 0))]
    names = (node for part in below for node in walk(part) if isinstance(node, ast.Name))
    return below if any(node.id in graphs and isinstance(node.ctx, ast.Load) for node in names) else []


def _statements_below(block: ast.AST, end: int) -> Iterator[ast.stmt]:
    """The statements that begin below a row, without those in them."""
    for child in blocks(block):
        if isinstance(child, ast.stmt) and child.lineno > end:
            yield child
        else:
            yield from _statements_below(child, end)


@dataclass(slots=True)
class _Flow:
    """Where the results of a network go in the statements of a loop."""

    network: str
    # The variables of the scope that it binds itself: what is put into another one is the caller's, or the file's.
    bound: frozenset[str]
    kinds: dict[str, Kind] = field(default_factory=dict)
    # Whether a graph was put where other code finds it, or what was made of one was given to code that trains.
    kept: bool = False
    # Whether what has a graph, or was made of one, was given to code whose result is not used.
    acts: bool = False

    def statements(self, nodes: Sequence[ast.AST]) -> None:
        for node in nodes:
            self.statement(node)

    def statement(self, node: ast.AST) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self.bind(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                self.bind(target, value)
            case ast.AugAssign(target=target, value=value):
                self.put(target, max(self.kind(value), self.kind(target)))
            case ast.Return(value=ast.expr() as value) | ast.Expr(value=ast.Yield(value=ast.expr() as value)):
                self.kept |= self.kind(value) is Kind.GRAPH
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=holder, attr=name)) as call) if name in FILLING:
                kind = max(map(self.kind, _given(call)), default=Kind.PLAIN)
                if name in OF_METRICS:
                    self.put(holder, kind)
                else:
                    self.fill(holder, kind)
            case ast.Expr(value=value):
                self.kind(value)
                self.acts |= isinstance(value, ast.Call) and self.is_given(value)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.kept = True
            case _:
                self.block(node)

    def block(self, node: ast.AST) -> None:
        """The statements in a statement."""
        for child in blocks(node):
            if isinstance(child, ast.stmt):
                self.statement(child)
            else:
                self.block(child)

    def bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for part, given in zip(target.elts, value.elts):
                self.bind(part, given)
        elif isinstance(target, ast.Tuple) and len(target.elts) == 2 and _name(value) in PAIRS:
            self.put(target.elts[0], self.kind(value))
        else:
            self.put(target, self.kind(value))

    def put(self, target: ast.expr, kind: Kind) -> None:
        """Note what a name holds; a graph in an attribute or a container of others is kept."""
        match target:
            case ast.Name(id=name):
                self.kinds[name] = max(kind, self.kinds.get(name, Kind.PLAIN))
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    self.put(part, kind)
            case ast.Starred(value=inner):
                self.put(inner, kind)
            case ast.Subscript(value=inner):
                self.fill(inner, kind)
            case _:
                self.kept |= kind is Kind.GRAPH

    def fill(self, holder: ast.expr, kind: Kind) -> None:
        """Note what a container holds."""
        if isinstance(holder, ast.Name) and holder.id in self.bound:
            self.put(holder, kind)
        else:
            self.kept |= kind is Kind.GRAPH

    def kind(self, node: ast.AST) -> Kind:
        """What an expression gives."""
        match node:
            case ast.Name(id=name):
                return self.kinds.get(name, Kind.PLAIN)
            case ast.Attribute(value=inner, attr=name):
                return Kind.PLAIN if name in READ_AS_NUMBER else self.kind(inner)
            case ast.Call():
                return self.called(node)
            case ast.Compare() | ast.Constant() | ast.JoinedStr() | ast.Lambda():
                return Kind.PLAIN
            case ast.Subscript(value=ast.Call() as inner, slice=ast.Constant(value=1)) if _name(inner) in PAIRS:
                return Kind.PLAIN
            case ast.Subscript(value=inner):
                return self.kind(inner)
        return max((self.kind(child) for child in children(node)), default=Kind.PLAIN)

    def is_given(self, node: ast.Call) -> bool:
        """Whether a function of other code is given what has a graph, or was made of one."""
        function = node.func
        if isinstance(function, ast.Name) and function.id in PLAIN or self.kind(function) is not Kind.PLAIN:
            return False
        return any(self.kind(each) is not Kind.PLAIN for each in _given(node))

    def called(self, node: ast.Call) -> Kind:
        """What a call gives: the network itself, a method of a tensor, a function of ``torch``, other code."""
        function, name = node.func, _name(node)
        if network_called(function) == self.network:
            return Kind.GRAPH
        given = max((self.kind(each) for each in _given(node)), default=Kind.PLAIN)
        self.kept |= given is not Kind.PLAIN and isinstance(function, ast.Attribute) and name in TRAINING
        if name in COMPARING or isinstance(function, ast.Name) and name in PLAIN:
            return Kind.PLAIN
        if isinstance(function, ast.Attribute):
            owner = self.kind(function)
            if owner is not Kind.PLAIN or name in READ_AS_NUMBER:
                return owner
            if written(function.value) == "torch":
                return given
        return min(given, Kind.MADE)


def _name(node: ast.expr) -> str:
    """The last part of the name of what is called."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
