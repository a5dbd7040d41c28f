"""What the methods of a class do with the attributes of their object, by the text alone.

def update(self, done):
    self.to_train = 1              assigned: a constant
def setup(self, net):
    self.optimizer = Adam(...)     assigned: something made there
def train(self, x):
    if self.to_train == 1: ...     tested, and read
        self.optimizer.step()      read; `train` needs what `setup` assigns
        self.losses.append(x)      filled
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..checks.kept_values import PLAIN
from ..domain.mro import OBJECT, is_module, lookup_in_mro, mro_of
from ..domain.state import State
from ..domain.values import NONE, TRUE, Class, Const, External, Function, HeapRef, Instance, Value, something
from ..engine.machine import Machine
from ..frozen import frozen
from ..models.torch.nn.layer_models import add_unseen_parameters
from ..models.torch.registry import MODULE_METHODS
from ..ops.module_names import is_layer
from ..source import body_of, cached_on_node, children, is_none, own_attribute, own_name, own_nodes, walk

MODULE = External("torch.nn.Module")

FILLING = frozenset(("append", "extend", "insert", "update", "appendleft"))
"""Methods that put what they are given into a container."""
ITSELF = frozenset("to cuda cpu float half double train eval requires_grad_ share_memory".split())
"""Methods of a module that return it."""
NUMBERS = frozenset(("item", "size", "numel", "dim"))
"""Methods of a tensor that give numbers of Python."""


@dataclass(slots=True)
class MethodFlow:
    """What one method does with attributes of its object."""

    # The constants that it assigns, by attribute; None for anything else.
    assigned: dict[str, list[Const | None]] = field(default_factory=dict)
    # The variable that each assignment gives an attribute, by attribute; None for anything else.
    kept: dict[str, list[str | None]] = field(default_factory=dict)
    # The attributes that it binds to what is neither a constant nor, as far as the text shows, a number.
    computed: set[str] = field(default_factory=set)
    # The attributes that something is put into.
    filled: set[str] = field(default_factory=set)
    # The attributes that are read, and those of which a test asks; those of whatever object of which one does.
    read: set[str] = field(default_factory=set)
    tested: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    # Of these, the ones for which a test does something where they are None, or may: it does not only leave.
    weighed: set[str] = field(default_factory=set)
    # The attributes from which it goes backward.
    walked: set[str] = field(default_factory=set)
    # The methods of the object that are called, and those of them that are outside of the functions that it defines.
    called: set[str] = field(default_factory=set)
    called_at_once: set[str] = field(default_factory=set)
    # Whether it goes backward itself, outside of the functions that it defines.
    backward: bool = False

    @property
    def stored(self) -> set[str]:
        """The attributes that it binds, or puts something into."""
        return self.assigned.keys() | self.filled


@cached_on_node
def method_flow(method: ast.AST) -> MethodFlow:
    """What a method does with the attributes of its first parameter."""
    found, own = MethodFlow(), own_name(method)
    if own is not None:
        for node in walk(method):
            _note(found, node, own)
        calls = (node.func for node in own_nodes(method) if isinstance(node, ast.Call))
        found.called_at_once = {name for call in calls if (name := own_attribute(call, own)) is not None}
    found.backward = any(map(_goes_backward, body_of(method)))
    return found


@cached_on_node
def returns_something(function: ast.AST) -> bool:
    """Whether a function returns more than None, as far as the text shows."""
    returned = (node.value for node in walk(function) if isinstance(node, ast.Return))
    return any(value is not None and not is_none(value) for value in returned)


def _goes_backward(node: ast.AST) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
        return False
    if isinstance(node, ast.Attribute) and node.attr in ("backward", "manual_backward"):
        return True
    return any(map(_goes_backward, children(node)))


def _note(found: MethodFlow, node: ast.AST, own: str) -> None:
    match node:
        case ast.Assign(targets, value):
            for target in targets:
                _assigned(found, target, value, own)
        case ast.AnnAssign(target, value=ast.expr() as value):
            _assigned(found, target, value, own)
        case ast.AugAssign(target, value=value):
            _assigned(found, target, None, own, _is_number(value))
        case ast.Call(ast.Attribute(ast.Name(name), method)) if name == own:
            found.called.add(method)
        case ast.Call(ast.Attribute(holder, "backward")):
            found.walked |= {*filter(None, (own_attribute(holder, own),))}
        case ast.Call(ast.Attribute(holder, method)) if method in FILLING:
            found.filled |= _attributes(holder, own)
        case ast.Subscript(holder, ctx=ast.Store()):
            found.filled |= _attributes(holder, own)
        case ast.Attribute(ast.Name(name), attribute, ast.Load()) if name == own:
            found.read.add(attribute)
        case ast.If() | ast.IfExp() | ast.While() | ast.Assert() | ast.BoolOp():
            _tested(found, node, own)


def _tested(found: MethodFlow, node: ast.If | ast.IfExp | ast.While | ast.Assert | ast.BoolOp, own: str) -> None:
    test = node if isinstance(node, ast.BoolOp) else node.test
    own_asked = _attributes(test, own)
    found.tested |= own_asked
    found.weighed |= own_asked - _only_guarded(node, own)
    found.asked.update(part.attr for part in walk(test) if isinstance(part, ast.Attribute))


def _only_guarded(node: ast.AST, own: str) -> set[str]:
    """The attributes without which a test only leaves: `if self.net is None: return`, `assert self.net`."""
    match node:
        case ast.If() if not node.orelse and _only_leaves(node.body):
            return {*_if_none(node.test, own, True)}
        case ast.Assert():
            return {*_if_none(node.test, own, False)}
        case ast.BoolOp():  # `self.net is None or ...`: the statement around it says what becomes of that
            return {*_if_none(node, own, True)}
    return set()


def _if_none(test: ast.expr, own: str, truth: bool) -> Iterator[str]:
    """The attributes for which a test is ``truth`` if one of them is None."""
    match test:
        case ast.Compare(left, [how], [ast.Constant(None)]):
            if isinstance(how, (ast.Is, ast.Eq) if truth else (ast.IsNot, ast.NotEq)):
                yield from _attributes(left, own)
        case ast.UnaryOp(ast.Not(), operand):
            yield from _if_none(operand, own, not truth)
        case ast.BoolOp(how, values) if isinstance(how, ast.Or if truth else ast.And):
            for value in values:
                yield from _if_none(value, own, truth)
        case ast.Attribute() if not truth:
            yield from _attributes(test, own)


def _only_leaves(side: list[ast.stmt]) -> bool:
    """Whether a block leaves the function, the iteration or the program, and computes nothing that is used."""
    *before, last = side
    if not all(isinstance(each, ast.Expr) for each in before):
        return False
    if isinstance(last, ast.Return):
        return last.value is None or isinstance(last.value, (ast.Constant, ast.Name))
    return isinstance(last, (ast.Raise, ast.Continue, ast.Break))


def _attributes(part: ast.expr, own: str) -> set[str]:
    """The attributes of the object that an expression mentions."""
    return {name for node in walk(part) if (name := own_attribute(node, own)) is not None}


def _assigned(found: MethodFlow, target: ast.expr, value: ast.expr | None, own: str, by_number: bool = False) -> None:
    """Note what is bound; ``by_number`` if a number is only added to it, or the like."""
    if isinstance(target, (ast.Tuple, ast.List)):
        values = value.elts if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts) else ()
        for index, inner in enumerate(target.elts):
            _assigned(found, inner, values[index] if values else None, own)
    elif (name := own_attribute(target, own)) is not None:
        constant = Const(value.value) if isinstance(value, ast.Constant) else None
        found.assigned.setdefault(name, []).append(constant)
        found.kept.setdefault(name, []).append(_passed_on(value))
        if constant is None and not by_number:
            found.computed.add(name)


def _passed_on(value: ast.expr | None) -> str | None:
    """The variable that an expression gives as it is, or after what returns it: ``net.to(device)``."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ITSELF:
        value = value.func.value
    return value.id if isinstance(value, ast.Name) else None


def _is_number(value: ast.expr) -> bool:
    """Whether an expression gives a number of Python, as far as the text shows."""
    match value:
        case ast.Constant(int() | float()):
            return True
        case ast.UnaryOp(operand=operand):
            return _is_number(operand)
        case ast.BinOp(left, _, right):
            return _is_number(left) and _is_number(right)
        case ast.Call(ast.Name(name)):
            return name in PLAIN
        case ast.Call(ast.Attribute(attr=name)):
            return name in NUMBERS
        case ast.Subscript(ast.Attribute(attr="shape")):
            return True
    return False


@frozen
class ObjectFlow:
    """What all methods of a class do, those of its bases included."""

    methods: dict[str, Function]
    flows: dict[str, MethodFlow]

    def reached(self, name: str, at_once: bool = False) -> dict[str, MethodFlow]:
        """A method, and those that it calls on its object; ``at_once``: without what the functions call that it only
        defines.
        """
        found: dict[str, MethodFlow] = {}
        todo = [name]
        while todo:
            each = todo.pop()
            if each not in found and each in self.flows:
                found[each] = self.flows[each]
                todo += sorted(self.flows[each].called_at_once if at_once else self.flows[each].called)
        return found

    def setters(self, attribute: str, besides: dict[str, MethodFlow]) -> list[str]:
        """The methods that assign an attribute, but for ``__init__`` and some others, in the order of the text."""
        found = (name for name, flow in self.flows.items() if attribute in flow.assigned)
        return [name for name in found if name != "__init__" and name not in besides]

    def givers(self, attribute: str) -> list[str]:
        """Those of them that give it something else than None."""
        flows = self.flows
        return [name for name in self.setters(attribute, {}) if any(v != NONE for v in flows[name].assigned[attribute])]


def object_flow(machine: Machine, state: State, kind: Value) -> ObjectFlow:
    """What the methods of a class of the program do with attributes; the most derived definition of each counts."""
    methods: dict[str, Function] = {}
    for owner in mro_of(state, kind):
        if isinstance(owner, HeapRef) and isinstance(thing := state.heap[owner.id], Class):
            for name, value in thing.attributes.items():
                if isinstance(value, Function) and value.owner == owner.id and value.kind == "":
                    methods.setdefault(name, value)
    flows = {name: machine.query(method_flow, function.node) for name, function in methods.items()}
    return ObjectFlow(methods, flows)


def hand_in(machine: Machine, state: State, receiver: HeapRef, kind: HeapRef) -> None:
    """Make an object of the class ``kind`` one that is handed in: it has a past, in which what ``__init__``
    leaves None and another method gives was given, and may be of a derived class.
    """
    thing, flow = state.edit(receiver.id, Instance), object_flow(machine, state, kind)
    thing.is_partial = True
    for attribute, value in thing.attributes.items():
        if value == NONE and flow.givers(attribute):
            thing.attributes[attribute] = something(attribute)


def fill_in(machine: Machine, state: State, made: HeapRef, kind: HeapRef, node: ast.AST) -> None:
    """Give an object of the class ``kind`` what its constructor did not set: the mode of a network and, to one without
    a ``forward``, the layers of a derived class, which are not seen.
    """
    thing = state.edit(made.id, Instance)
    thing.attributes.setdefault("training", TRUE)
    if is_module(state, kind) and not _has_forward(state, kind):
        add_unseen_parameters(machine, state, thing, state.get(kind.id, Class).name, node)


def _has_forward(state: State, kind: HeapRef) -> bool:
    """Whether calling an object of a module's class runs a ``forward``: of its own, or of a layer of PyTorch."""
    libraries = [base.name for base in mro_of(state, kind) if isinstance(base, External)]
    if any(is_layer(name) and name != "torch.nn.Module" for name in libraries):
        return True
    found = lookup_in_mro(state, kind, "forward")
    return found is not None and found[1] is not None


def called_undeclared(machine: Machine, state: State, kind: HeapRef) -> set[str]:
    """The methods that a class calls on its object, and neither it nor a base of it has: derived classes define them.
    Empty where a base is not known.
    """
    flow, has = object_flow(machine, state, kind), set[str]()
    for owner in mro_of(state, kind):
        if isinstance(owner, HeapRef) and isinstance(thing := state.heap[owner.id], Class):
            has |= thing.attributes.keys()
        elif owner not in (OBJECT, MODULE):
            return set()
    assigned = {name for each in flow.flows.values() for name in each.assigned}
    called = {name for each in flow.flows.values() for name in each.called}
    return called - has - assigned - MODULE_METHODS.keys()


def may_carry(machine: Machine, state: State, kind: HeapRef, function: Function) -> bool:
    """Whether a method may leave on its object what later calls find there, as far as the text shows. One that trains
    by itself is called again anyway.
    """
    if function.kind == "property":  # a network is kept, and so is what it has computed once
        return is_module(state, kind) and _carries([machine.query(method_flow, function.node)])
    if function.kind or not all(map(_is_known, mro_of(state, kind))):
        return False
    flow, name = object_flow(machine, state, kind), getattr(function.node, "name", "")
    reached = flow.reached(name)
    if name == "__init__" or any(each.backward for each in reached.values()):
        return False
    if name == "forward" and is_module(state, kind):
        return _carries([each for other, each in flow.flows.items() if other != "__init__"])
    return machine.query(returns_something, function.node) and _carries([*reached.values()])


def _is_known(owner: Value) -> bool:
    """Whether it is known what a class does: of libraries, the layers of PyTorch."""
    return owner == OBJECT or not isinstance(owner, External) or is_layer(owner.name)


def _carries(flows: list[MethodFlow]) -> bool:
    """Whether methods read attributes that they bind or fill."""
    stored, read = set[str](), set[str]()
    for each in flows:
        stored |= each.stored
        read |= each.read
    return not stored.isdisjoint(read)
