"""Functions without a caller: which they are, on objects of which class they run, and in which order.

class Trainer:
    def training_step(self, batch): ...     reaches backward: it runs first
    def loss(self, batch): raise NotImplementedError
class Segmentation(Trainer):                so `training_step` runs on a `Segmentation`,
    def loss(self, batch): ...              also where `Trainer` stands in another file

Functions whose text may write a tensor in place, themselves or through functions of the same file.

    x /= norm            result.clamp_(max=1)        states[i] = h        relu(x, inplace=True)        add(a, b, out=c)

Only what is cheap to see counts: a function without any of these is not executed for it.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Sequence, Set
from dataclasses import replace

from .. import ops
from ..domain.mro import is_function, is_module, mro_of
from ..domain.state import State
from ..domain.values import Class, External, Frame, Function, HeapRef
from ..engine.machine import Machine
from ..engine.module_system import LoadedModule
from ..engine.syntax.syntactic_summary import is_abstract, syntactic_summary
from ..frozen import frozen
from ..models.frameworks.training_loops import WALKED
from ..models.torch.autograd.grad_access import through
from ..semantics.reassigned_data import used_by
from ..source import Definition, Loop, body_of, cached_on_node, definitions, walk
from .attribute_flow import ObjectFlow, called_undeclared, may_carry, method_flow, object_flow
from .quiet_uses import is_unrecorded, runs_unrecorded, serves_optimizers
from .test_functions import is_fixture, is_test

TRAINING = frozenset(("backward", "step"))
TRAINS = 0
"""The urgency of what goes backward."""
NON_TRAINING = 3
"""The urgency of what does not train."""


def priority(function: ast.AST, trees: Sequence[ast.AST]) -> int:
    """What is most likely to hold a hazard runs first, as long as the budget lasts: what reaches backward; ``forward``
    methods; what trains through functions of these files; and then what only makes something, or looks at it.
    """
    if syntactic_summary(function).backward or getattr(function, "name", "") in WALKED:
        return TRAINS
    if getattr(function, "name", "") == "forward":
        return 1
    return 2 if through(function, *trees) & TRAINING else NON_TRAINING


@cached_on_node
def is_round(function: ast.AST) -> bool:
    """Whether a function that goes backward is a round of training, which callers repeat: no loop in a loop does."""
    inner = (each for loop in walk(function) if isinstance(loop, Loop) for each in walk(loop) if each is not loop)
    return not any(isinstance(each, Loop) and syntactic_summary(each).backward for each in inner)


@frozen
class Candidate:
    """A function that is an entry point unless code that has run has called it, or what derived classes fill in."""

    function: Function
    # The class on whose objects it runs.
    owner: HeapRef | None = None
    # What is executed by running it: itself; for an inherited method what the class defines of what that calls.
    parts: frozenset[ast.AST] = frozenset()
    # Whether it is a test of a base class, which runs on the objects of each class that has it.
    is_inherited_test: bool = False

    def is_reached(self, called: Set[ast.AST]) -> bool:
        """Whether all of it was called."""
        if self.is_inherited_test:
            return False
        return self.parts <= called if self.parts else self.function.node in called


def unreached_functions(
    machine: Machine, state: State, module: int, loads: Iterable[LoadedModule]
) -> Iterator[Candidate]:
    """Functions of the module, then methods of its classes, that were never run."""
    defined = _definitions(machine.tree)
    others = {loaded.frame for loaded in loads if not loaded.is_stub}
    for name, value in list(state.get(module, Frame).variables.items()):
        if isinstance(value, Function) and isinstance(value.node, Definition):
            if name in defined or _is_own(state, module, value):  # or a decorator from another file has wrapped it
                yield Candidate(_as_defined(state, value, defined.get(name)))
        elif isinstance(value, HeapRef) and isinstance(state.heap.get(value.id), Class):
            yield from inherited_methods(machine, state, module, value, others)
            yield from _methods(machine, state, module, value)


def inherited_methods(
    machine: Machine, state: State, module: int, kind: HeapRef, others: Container[int]
) -> Iterator[Candidate]:
    """The methods of other classes that run on the objects of a class of ``module``: the tests that it has from those;
    and of what is defined in one of the modules ``others``, by their frames, what is there for it to fill in.
    """
    if len([base for base in mro_of(state, kind) if isinstance(base, HeapRef)]) < 2:
        return
    flow = object_flow(machine, state, kind)
    homes = {name: state.get(method.frame, Frame).module for name, method in flow.methods.items()}
    inherited = {name: method for name, method in flow.methods.items() if method.owner != kind.id}
    for name, method in inherited.items():
        if is_test(machine, state, method, kind) and not machine.query(is_abstract, method.node):
            yield Candidate(method, kind, is_inherited_test=True)
        elif homes[name] in others and _is_template(state, kind, flow, name):
            filled = (flow.methods[each].node for each in flow.reached(name) if homes[each] == module)
            if parts := frozenset(filled):
                yield Candidate(method, kind, parts)


def _is_template(state: State, kind: HeapRef, flow: ObjectFlow, name: str) -> bool:
    """Whether somebody calls a method that derived classes fill in: it is ``forward``, or goes backward, or calls what
    does.
    """
    if name == "forward" and is_module(state, kind):
        return True
    return name != "__init__" and any(flow.flows[each].backward for each in flow.reached(name))


def _definitions(scope: ast.AST) -> dict[str, Definition]:
    """The functions that a module or a class defines, by their names."""
    return {node.name: node for node in body_of(scope) if isinstance(node, Definition)}


def _as_defined(state: State, value: Function, definition: Definition | None) -> Function:
    """What decorators of the program have made of a function, as its definition says: with its own parameters."""
    found, todo = {value.node}, [value]
    while todo:
        function = todo.pop()
        if function.node is definition:
            return function if function == value else replace(function, wrapper=value)
        fresh = [each for each in used_by(state, function) if isinstance(each, Function) and each.node not in found]
        found.update(each.node for each in fresh)
        todo += fresh
    return value


def _is_own(state: State, module: int, function: Function) -> bool:
    """Not imported from another file, which is where it is tried out."""
    return state.get(function.frame, Frame).module == module


def _methods(machine: Machine, state: State, module: int, kind: HeapRef) -> Iterator[Candidate]:
    """The methods that a class of the module defines, each with the class on whose objects it runs."""
    itself = [] if _has_no_objects(state, kind) else [kind]
    complete = _completed(machine, state, module, kind)
    defined = _definitions(state.get(kind.id, Class).node)
    for name, value in list(state.get(kind.id, Class).attributes.items()):
        function = _as_defined(state, value, defined.get(name)) if isinstance(value, Function) else value
        if not isinstance(function, Function) or function.owner != kind.id or not _is_own(state, module, function):
            continue
        name = definition_of(function).name
        if name != "__init__":
            heirs = [heir for heir in complete if name not in state.get(heir.id, Class).attributes]
            for owner in (heirs if not machine.query(is_abstract, function.node) else []) or itself:
                yield Candidate(function, owner)


def _has_no_objects(state: State, kind: HeapRef) -> bool:
    """Whether a class's own ``__init__`` ends in a `raise` whatever it is given: derived classes have another one."""
    made = state.get(kind.id, Class).attributes.get("__init__")
    body = getattr(made.node, "body", []) if isinstance(made, Function) and made.owner == kind.id else []
    ends = isinstance(body, list) and bool(body) and isinstance(body[-1], ast.Raise)
    return ends and not any(isinstance(node, ast.Return) for statement in body for node in walk(statement))


def _completed(machine: Machine, state: State, module: int, base: HeapRef) -> list[HeapRef]:
    """The first classes of the module that define what ``base`` leaves to derived ones, or set anew what its
    constructor sets: its methods run on theirs.
    """
    abstract = {
        name
        for name, function in state.get(base.id, Class).attributes.items()
        if isinstance(function, Function) and machine.query(is_abstract, function.node)
    }
    undeclared = called_undeclared(machine, state, base)
    own = {heir: state.get(heir.id, Class).attributes.keys() for heir in _heirs(state, module, base)}
    left = abstract | undeclared.intersection(*own.values())
    found = [
        heir for heir, names in own.items() if (left <= names if left else _is_set_anew(machine, state, base, heir))
    ]
    return found[: machine.limits.heirs]


def _is_set_anew(machine: Machine, state: State, base: HeapRef, heir: HeapRef) -> bool:
    """Whether the constructor of ``heir`` calls that of ``base``, and then computes an attribute that is set there: it
    was a stand-in.
    """
    made = [state.get(kind.id, Class).attributes.get("__init__") for kind in (base, heir)]
    flows = [machine.query(method_flow, each.node) for each in made if isinstance(each, Function)]
    if len(flows) < 2 or made[0] == made[1] or not isinstance(made[1], Function):
        return False
    calls = (node.func for node in walk(made[1].node) if isinstance(node, ast.Call))
    completes = any(isinstance(function, ast.Attribute) and function.attr == "__init__" for function in calls)
    return completes and not flows[1].computed.isdisjoint(flows[0].assigned)


def _heirs(state: State, module: int, base: HeapRef) -> list[HeapRef]:
    """The classes of the module that derive from ``base``."""
    others = state.get(module, Frame).variables.values()
    kinds = [each for each in others if isinstance(each, HeapRef) and isinstance(state.heap.get(each.id), Class)]
    return [kind for kind in kinds if kind != base and base in mro_of(state, kind)]


def is_run_by_tests(machine: Machine, state: State, function: Function, owner: HeapRef | None) -> bool:
    """Whether a function has a caller that is known: it is a test, or a fixture of tests."""
    if is_test(machine, state, function, owner):
        return True
    return machine.serves_tests and is_fixture(machine, state, function)


def is_applied(state: State, function: Function, owner: HeapRef | None) -> bool:
    """Whether ``apply`` calls it, and no graph is recorded: the ``forward`` of a ``torch.autograd.Function``."""
    return definition_of(function).name == "forward" and owner is not None and is_function(state, owner)


def trains(machine: Machine, function: ast.AST) -> bool:
    """Whether a function goes backward, through functions of this file and those it imports as well."""
    return "backward" in machine.query(through, function, *machine.trees)


def is_worth_imagining(
    machine: Machine, state: State, function: Function, owner: HeapRef | None, loads: Iterable[LoadedModule]
) -> bool:
    """Whether a caller with graphs may meet a hazard in a function, as far as its text shows."""
    node = definition_of(function)
    is_quiet = is_unrecorded(machine.tree, node) or is_applied(state, function, owner) or _is_of_data(state, owner)
    is_quiet = is_quiet or node.name == "forward" and machine.query(runs_unrecorded, machine.tree, node)
    if is_quiet or serves_optimizers(machine.tree, state, machine.module, function, owner):
        return False
    if is_run_by_tests(machine, state, function, owner):
        return False
    if syntactic_summary(node).yields:
        return False
    trees = (machine.tree, *(module.source.tree for module in loads))
    return may_write(node, *trees) or owner is not None and may_carry(machine, state, owner, function)


def _is_of_data(state: State, owner: HeapRef | None) -> bool:
    """Whether a class is one of data, which has no graph: it derives from one of ``torch.utils.data``."""
    bases = mro_of(state, owner) if owner is not None else ()
    return any(isinstance(base, External) and base.name.startswith("torch.utils.data.") for base in bases)


def definition_of(function: Function) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """The ``def`` of a function that runs as an entry point; a lambda never does."""
    assert not isinstance(function.node, ast.Lambda)
    return function.node


CONTAINERS = (ast.JoinedStr, ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp)
DISPLAYS = (ast.Constant, *CONTAINERS)
"""How numbers, texts and containers are written."""
MAKERS = frozenset("len int str dict list set defaultdict OrderedDict".split())
"""Python's functions that make such."""
WRITING = (ast.Assign, ast.AugAssign, ast.Call, ast.Subscript)
"""What may write in place, or bind a variable to such."""


def may_write(function: ast.AST, *trees: ast.AST) -> bool:
    """Whether a function may write in place, itself or through functions of these files, by their names."""
    writes, called = _facts(function)
    return writes or any(not called.isdisjoint(_writers(tree)) for tree in trees)


@cached_on_node
def _writers(tree: ast.AST) -> frozenset[str]:
    """The functions of a file that may write in place."""
    known: dict[str, list[tuple[bool, frozenset[str]]]] = {}
    for node in definitions(tree):
        if isinstance(node, Definition):
            known.setdefault(node.name, []).append(_facts(node))
    found = {name for name, facts in known.items() if any(writes for writes, _ in facts)}
    fresh = found
    while fresh:
        fresh = {
            name
            for name, facts in known.items()
            if name not in found and any(not called.isdisjoint(fresh) for _, called in facts)
        }
        found = found | fresh
    return frozenset(found)


@cached_on_node
def _facts(function: ast.AST) -> tuple[bool, frozenset[str]]:
    """Whether the text of a function writes in place, and the names of what it calls."""
    nodes = [node for node in walk(function) if isinstance(node, WRITING)]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    plain = _plain(nodes)
    return any(_writes(node) and _bound(node) not in plain for node in nodes), frozenset(_name(call) for call in calls)


def _plain(nodes: Iterable[ast.AST]) -> set[str]:
    """The variables that are given a number, a text or a container: `total = 0`."""
    given = (node for node in nodes if isinstance(node, ast.Assign) and _is_plain(node.value))
    return {target.id for node in given for target in node.targets if isinstance(target, ast.Name)}


def _is_plain(value: ast.expr) -> bool:
    return isinstance(value, DISPLAYS) or isinstance(value, ast.Call) and _name(value) in MAKERS


def _bound(node: ast.AST) -> str:
    """The variable that a node writes, itself or an item of it."""
    target = node.target if isinstance(node, ast.AugAssign) else getattr(node, "value", None)
    return target.id if isinstance(target, ast.Name) else ""


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _writes(node: ast.AST) -> bool:
    """Whether a node may write a tensor in place: by a method, by an argument, by an operator, or to a part of it."""
    match node:
        case ast.Call(keywords=keywords):
            name = _name(node)
            is_method = name.endswith("_") and not name.endswith("__") and bool(ops.candidates(name))
            return is_method or any(_asks_for_it(each) for each in keywords)
        case ast.AugAssign(ast.Attribute(), value=ast.Constant()):
            return False  # a counter
        case ast.AugAssign(value=value):
            return not isinstance(value, CONTAINERS)
        case ast.Subscript(slice=ast.Constant(str())):
            return False  # the key of a dictionary
        case ast.Subscript(ctx=ast.Store()):
            return True
    return False


def _asks_for_it(given: ast.keyword) -> bool:
    is_true = isinstance(given.value, ast.Constant) and given.value.value is True
    return given.arg == "out" or given.arg == "inplace" and is_true
