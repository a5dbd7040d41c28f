"""What a class does with what its ``__init__`` is given: kept as an attribute, it is used as that attribute is.

class Loss:
    def __init__(self, device, G, D):
        self.G, self.D = G, D            # G is kept as `self.G`

    def run(self, z):
        return self.D(self.G(z))         # and called here: so G is called
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..domain.mro import lookup_in_mro, mro_of
from ..domain.state import State
from ..domain.values import Class, Function, HeapRef
from ..engine.machine import Machine
from ..engine.syntax.asked import OF_NETWORKS
from ..engine.syntax.own_attributes import own_attribute
from ..engine.syntax.syntactic_summary import syntactic_summary
from ..engine.syntax.walked_results import fed_calls, walked_attributes, walked_calls
from ..models.frameworks.training_loops import walked_results
from ..source import cached_on_node, walk
from .handed_on import HandedOn, Parameter, handed_arguments, handed_to_methods, receiving

WALKED = "backward()"
"""The use of what is called, if the program goes backward through what comes out."""
FED = "backward() of data"
"""The same, where it was given only what no call has returned: the graph begins there."""

ITSELF = frozenset("to cuda cpu float half double train eval requires_grad_ share_memory".split())
"""Methods of a module that return it."""


def uses_of(machine: Machine, state: State, function: Function, kind: HeapRef | None) -> dict[str, set[str]]:
    """For each name in a function the attributes it is asked for, ``()`` if it is called, and ``WALKED`` if what comes
    out is walked; for what an ``__init__`` keeps, by its class as well.
    """
    found = {name: set(used) for name, used in machine.query(_own_uses, function.node).items()}
    spec = function.node.args
    for name in (each.arg for each in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)):
        more = _uses_by_others(machine, state, function, name, machine.limits.handed_on)
        found.setdefault(name, set()).update(more)
    if function.owner is None or getattr(function.node, "name", "") != "__init__":
        return found
    kind = kind or HeapRef(function.owner)
    if kept := _kept(function.node):
        _add_uses_by_methods(machine, state, kind, kept, found)
    _add_uses_by_base(machine, state, function, kind, found)
    return found


def _add_uses_by_base(
    machine: Machine, state: State, init: Function, kind: HeapRef, found: dict[str, set[str]]
) -> None:
    """Add to ``found`` how the class uses what an ``__init__`` hands on to that of the next base."""
    handed = machine.query(_handed_to_base, init.node)
    base = lookup_in_mro(state, kind, "__init__", after=init.owner) if handed else None
    if base is None or not isinstance(base[1], Function):
        return
    uses = uses_of(machine, state, base[1], kind)
    for call in handed:
        parameter = machine.query(Parameter(call.position, 1), base[1].node)
        if parameter is not None:
            found.setdefault(call.name, set()).update(uses.get(parameter, ()))


@cached_on_node
def _handed_to_base(init: ast.AST) -> tuple[HandedOn, ...]:
    """The variables that ``super().__init__(...)`` is given."""
    given: list[HandedOn] = []
    for node in walk(init):
        match node:
            case ast.Call(ast.Attribute(ast.Call(ast.Name("super")), "__init__")):
                given += [each for each in handed_arguments(node, "__init__") if not each.is_attribute]
    return tuple(given)


@cached_on_node
def _own_uses(scope: ast.AST) -> dict[str, set[str]]:
    """How a function itself uses names, ``WALKED`` and ``FED`` among the uses."""
    uses, fed = syntactic_summary(scope).uses, fed_calls(scope)
    marks = {name: {WALKED, FED} if name in fed else {WALKED} for name in walked_calls(scope)}
    return {name: used | marks.get(name, set()) for name, used in uses.items()}


def _uses_by_others(machine: Machine, state: State, function: Function, name: str, depth: int) -> Iterator[str]:
    """How the functions use a variable that ``function`` hands it on to."""
    for callee, parameter in receiving(machine, state, function, name) if depth else ():
        yield from machine.query(_uses_of_given, callee.node).get(parameter, ())
        if callee.node is not function.node:
            yield from _uses_by_others(machine, state, callee, parameter, depth - 1)


def _add_uses_by_methods(
    machine: Machine, state: State, kind: HeapRef, kept: dict[str, set[str]], found: dict[str, set[str]]
) -> None:
    """Add to ``found`` how methods of a class use the attributes that parameters of its ``__init__`` are kept as."""
    results = walked_results(machine, state, kind)
    for owner in mro_of(state, kind):
        if not isinstance(owner, HeapRef) or not isinstance(thing := state.heap[owner.id], Class):
            continue
        uses = machine.query(_uses, thing.node)
        for attribute, more in _uses_by_own_methods(machine, state, kind, thing.node):
            uses = {**uses, attribute: uses.get(attribute, set()) | more}
        by_method = machine.query(walked_attributes, thing.node)
        walked = [by_method[name] for name in ("", *results) if name in by_method]
        graphs = {name for each in walked for name in each.called}
        fed = {name for each in walked for name in each.fed}
        for parameter, attributes in kept.items():
            for attribute in attributes & uses.keys():
                found.setdefault(parameter, set()).update(uses[attribute])
                if attribute in graphs:
                    found[parameter].add(WALKED)
                if attribute in fed:
                    found[parameter].add(FED)


def _uses_by_own_methods(
    machine: Machine, state: State, kind: HeapRef, owner: ast.ClassDef
) -> Iterator[tuple[str, set[str]]]:
    """How methods use the attributes that they are given by methods of the class ``owner``, or one derived from it."""
    for call in machine.query(handed_to_methods, owner):
        method = lookup_in_mro(state, kind, call.callee)
        if call.is_attribute and method is not None and isinstance(method[1], Function):
            function = method[1]
            parameter = machine.query(Parameter(call.position, function.kind != "static"), function.node)
            if parameter is not None:
                yield call.name, machine.query(_uses_of_given, function.node).get(parameter, set())


@cached_on_node
def _uses_of_given(scope: ast.AST) -> dict[str, set[str]]:
    """What the uses of its parameters say of those that hand them on: not that something is called and nothing else."""
    known = {WALKED, *OF_NETWORKS}
    return {name: used if used & known else used - {"()"} for name, used in _own_uses(scope).items()}


@cached_on_node
def _kept(init: ast.AST) -> dict[str, set[str]]:
    """By parameter the attributes of ``self`` that it is kept as: ``self.net = net``."""
    found: dict[str, set[str]] = {}
    for node in walk(init):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                _pair(target, node.value, found)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            _pair(node.target, node.value, found)
    return found


def _pair(target: ast.expr, value: ast.expr, found: dict[str, set[str]]) -> None:
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
        for inner, item in zip(target.elts, value.elts):
            _pair(inner, item, found)
        return
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ITSELF:
        value = value.func.value  # net.to(device)
    if isinstance(value, ast.Name) and (name := own_attribute(target)) is not None:
        found.setdefault(value.id, set()).add(name)


@cached_on_node
def _uses(owner: ast.AST) -> dict[str, set[str]]:
    """How a class uses attributes of ``self``: what it asks them for, and ``()`` where it calls them."""
    found: dict[str, set[str]] = {}
    for node in walk(owner):
        if isinstance(node, ast.Call) and (name := own_attribute(node.func)) is not None:
            found.setdefault(name, set()).add("()")
        elif isinstance(node, ast.Attribute) and (name := own_attribute(node.value)) is not None:
            found.setdefault(name, set()).add(node.attr)
    return found
