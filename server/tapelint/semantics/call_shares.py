"""A call that takes too much is left as if its code were not known, so that what calls it is followed to its end.

    for batch in loader:
        boxes = decode(model(batch))     an eighth of a million expressions: given up after its share of the fuel
        loss = criterion(boxes)          followed, with `boxes` unknown
        loss.backward()

Only what does not train is given up: a function that goes backward, steps or clears gradients, itself or through
others, may take all.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TypeGuard

from ..autograd import Provenance
from ..bounds import BOUNDS
from ..domain import facets
from ..domain.mro import is_module
from ..domain.state import State
from ..domain.values import TRUE, BoundMethod, Class, Function, HeapRef, Instance, TensorRef, Tuple, Value, something
from ..engine.machine import Machine, OutOfFuel
from ..engine.statistics import Entry, Lost
from ..models.torch.autograd.grad_access import reaches
from ..models.torch.autograd.tensor_hooks import run_hooks_below
from ..models.torch.nn.layer_models import add_unseen_parameters
from ..models.torch.nn.module_registry import is_module_like
from ..models.torch.registry import MODULE_METHODS, Call
from ..ops.torch_attributes import CUTS
from ..source import cached_on_node, definitions, own_nodes, walk

Defined = dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]]

TRAINING = frozenset(("backward", "step", "zero_grad"))
"""What reaches for these may take all the fuel."""
CUTTING = CUTS | {"no_grad", "inference_mode", "set_grad_enabled"}
"""What takes the graph from a tensor, or records none."""


def _is_of_library(machine: Machine, scope: int) -> bool:
    """Whether a module's scope is that of an installed library. Without a setting none of them is executed."""
    imports = machine.imports
    if imports is None or not imports.follows_libraries:
        return False
    module = imports.of_scope(scope)
    return module is not None and imports.lookups.is_library(module.path)


def share_of(machine: Machine, definition: ast.AST, scope: int) -> int | None:
    """The fuel that a call may take at most of a function that is defined in the module of ``scope``, 0 where it has
    proved to take too much; None where it may take all: it trains, it is the entry point itself, or it runs inside a
    call that has a share.
    """
    limits, unit, context = machine.limits, machine.unit, machine.context
    if context.has_share or not context.depth:
        return None
    if definition in unit.abandoned:
        return 0
    if _is_of_library(machine, scope):
        return min(limits.library_call_fuel, max(machine.fuel - machine.fuel_used, 0) // limits.call_share)
    if not _repeats(definition) or not TRAINING.isdisjoint(reaches(machine, definition)):
        return None
    whole, left = unit.fuel_used_before + machine.fuel, machine.fuel - machine.fuel_used
    share = left // limits.call_share
    if share < limits.least_share:
        unit.fuel_needed = sys.maxsize
        return None
    return min(share, max(whole // limits.call_share - unit.taken.get(definition, 0), 0))


def within(
    machine: Machine, state: State, definition: ast.AST, share: int, run: Callable[[], Value | None]
) -> Value | None:
    """What a call returns that takes no more than its ``share``. Where it takes more, or has no result, None: then the
    path is as it was.
    """
    outer, begin, context, unit, before = machine.fuel, machine.fuel_used, machine.context, machine.unit, state.fork()
    is_inside, machine.fuel, context.has_share = context.has_share, min(begin + share, outer), True
    called = {definition, *unit.called}
    try:
        result = run()
    except OutOfFuel:
        if machine.fuel_used > outer:
            raise
        result = None
    finally:
        machine.fuel, context.has_share = outer, is_inside
    if result is None:
        state.become(before)
        unit.called &= called  # what was called inside has no caller that is followed
        return None
    taken = machine.fuel_used - begin
    unit.taken[definition] = unit.taken.get(definition, 0) + taken
    most = machine.limits.call_share * max(taken, unit.taken[definition])
    unit.fuel_needed = max(unit.fuel_needed, begin + most)
    return result


def ended(machine: Machine, state: State, definition: ast.AST, given: tuple[Value, ...], result: Value) -> None:
    """A call has ``result``: where that has no graph, and what was ``given`` may have one, the function cuts it."""
    if isinstance(result, TensorRef) and state.tensors[result.id].requires_grad is False:
        if any(isinstance(v, TensorRef) and state.tensors[v.id].requires_grad is not False for v in given):
            machine.unit.cutting.add(definition)


def abandoned(
    machine: Machine, state: State, function: Function, args: list[Value], kwargs: dict[str, Value], node: ast.AST
) -> Value:
    """The result of a call that is left: what its code may change is unknown from here on. That it keeps the graph of
    what it is given is assumed, unless an earlier call has not, or it may cut graphs for all that its text shows.
    """
    if function.node not in machine.unit.abandoned:
        machine.give_up(Lost(Entry("call", function.node)))
    return left_out(machine, state, function, args, kwargs, node)


def left_out(
    machine: Machine, state: State, function: Function, args: list[Value], kwargs: dict[str, Value], node: ast.AST
) -> Value:
    """The same of one of which nothing is said."""
    definition = function.node
    machine.unit.abandoned.add(definition)
    stored, cuts = machine.query(effects_by_name, definition, *machine.trees)
    network, name = _network(state, args), getattr(definition, "name", "")
    result: Value | None = None
    if network is not None and name == "forward":  # of the parameters that it has now
        call = Call("forward", args[1:], kwargs, node)
        model, count = MODULE_METHODS["forward"], machine.query(_parts, definition)
        parts = [model(machine, state, network, call) for _ in range(count)]
        known = [part.id for part in parts if isinstance(part, TensorRef)]
        for key in known:  # beside one of several that goes backward the others may be numbers
            whole = known[0] if count > 1 else None
            machine.facts.record_provenance(key, Provenance(part_of=whole, parts_may_be_cut=cuts))
        result = parts[0] if count == 1 else Tuple(tuple(parts))
        run_hooks_below(state, network, node)
    for value in (*args, *kwargs.values()):
        _forget_attributes(state, value, stored)
    if result is not None:
        return result
    if network is not None and name == "__init__":
        thing = state.edit(network.id, Instance)
        thing.attributes["training"] = thing.attributes[facets.UNBUILT] = TRUE
        add_unseen_parameters(machine, state, thing, _class_name(state, thing), node)
    result = machine.call_unknown(state, args, kwargs, node, function)
    _leave_in_evaluation(machine, state, definition, args, node)
    return something(name) if cuts or definition in machine.unit.cutting else result


def _leave_in_evaluation(machine: Machine, state: State, definition: ast.AST, args: list[Value], node: ast.AST) -> None:
    """The networks that a function leaves in evaluation mode, by its text, and calls in it: parameters of its, and
    attributes of the object whose method it is.
    """
    calls = state.calls
    for place, attribute, switch in machine.query(evaluations, definition):
        value = args[place] if place < len(args) else None
        if attribute and isinstance(value, HeapRef) and isinstance(thing := state.heap[value.id], Instance):
            value = thing.attributes.get(attribute)
        if isinstance(value, HeapRef) and is_module_like(state, value):
            state.calls = (*calls, node)
            MODULE_METHODS["eval"](machine, state, value, Call("eval", [], {}, switch))
            state.calls = calls
            if any(value.id == trained for _, trained, _ in machine.facts.networks.training_calls):
                state.evaluated |= {value.id}


@cached_on_node
def evaluations(definition: ast.AST) -> tuple[tuple[int, str, ast.Call], ...]:
    """The statements by which a function leaves a network in evaluation mode that it calls, each with the place of the
    parameter, and with its attribute if the network is that.
    """
    if not isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return ()
    names = [each.arg for each in (*definition.args.posonlyargs, *definition.args.args)]
    made = [each.func for each in walk(definition) if isinstance(each, ast.Call)]
    called = {ast.unparse(function) for function in made}
    asked = Counter(ast.unparse(function.value) for function in made if _sets_mode(function, "train", "eval"))
    found: list[tuple[int, str, ast.Call]] = []
    for owner, switch in _always_set(definition.body):
        network, _, attribute = owner.partition(".")
        if network in names and "." not in attribute and owner in called and asked[owner] == 1:
            found.append((names.index(network), attribute, switch))
    return tuple(found)


def _always_set(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.Call]]:
    """What the statements of a block set to evaluation mode that no test guards: a loop over data has some."""
    for statement in body:
        match statement:
            case ast.Expr(ast.Call(function) as switch) if _sets_mode(function, "eval"):
                yield ast.unparse(function.value), switch
            case ast.For() | ast.AsyncFor() | ast.With() | ast.AsyncWith():
                yield from _always_set(statement.body)


def _sets_mode(function: ast.expr, *names: str) -> TypeGuard[ast.Attribute]:
    return isinstance(function, ast.Attribute) and function.attr in names


def _parts(function: ast.AST) -> int:
    """How many results a function returns at each ``return``: each of several may have a graph of its own."""
    returned = [node.value for node in own_nodes(function) if isinstance(node, ast.Return)]
    spelled = [value.elts if isinstance(value, ast.Tuple) else [] for value in returned]
    counts = {0 if any(isinstance(each, ast.Starred) for each in items) else len(items) for items in spelled}
    return max(counts.pop(), 1) if len(counts) == 1 else 1


def _network(state: State, args: list[Value]) -> HeapRef | None:
    """The network that a method runs on."""
    receiver = args[0] if args else None
    if not isinstance(receiver, HeapRef) or not isinstance(thing := state.heap[receiver.id], Instance):
        return None
    return receiver if is_module(state, thing.kind) else None


def _class_name(state: State, thing: Instance) -> str:
    return state.get(thing.kind.id, Class).name if isinstance(thing.kind, HeapRef) else "module"


def _forget_attributes(state: State, given: Value, stored: frozenset[str]) -> None:
    """The attributes of these names may be anything, of an object that was given and of those that it holds."""
    todo, seen = [given], set[int]()
    while todo and len(seen) < BOUNDS.abandoned_objects:
        value = todo.pop()
        if isinstance(value, BoundMethod):
            todo.append(value.receiver)
        if not isinstance(value, HeapRef) or value.id in seen:
            continue
        seen.add(value.id)
        thing = state.heap[value.id]
        if not isinstance(thing, Instance):
            continue
        todo += thing.attributes.values()
        changed = stored.intersection(thing.attributes)
        if changed or value == given and stored:
            mine = state.edit(value.id, Instance)
            mine.is_partial = True
            mine.attributes.update((name, something(name)) for name in sorted(changed))


@cached_on_node
def _repeats(definition: ast.AST) -> bool:
    """Whether a function may take long: it loops, or calls something."""
    return any(isinstance(node, (ast.Call, ast.For, ast.While, ast.comprehension)) for node in walk(definition))


@cached_on_node
def _own_effects(definition: ast.AST) -> tuple[frozenset[str], frozenset[str], bool]:
    """The attributes that a function assigns, the names of what it calls, and whether it may cut graphs itself. What an
    ``__init__`` calls of its bases assigns those of an object that is being made, and of no other.
    """
    found, called, cuts = set[str](), set[str](), False
    for node in walk(definition):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            found.add(node.attr)
        elif isinstance(node, ast.Call):
            called.add(getattr(node.func, "attr", getattr(node.func, "id", "")))
        cuts = cuts or isinstance(node, ast.Attribute) and node.attr in CUTTING
    return frozenset(found), frozenset(called - {"__init__"}), cuts


@cached_on_node
def _defined(tree: ast.AST) -> Defined:
    """The functions of a file by their names; that of a class is the name of what makes its objects, too."""
    found: Defined = {}
    for node in definitions(tree):
        if not isinstance(node, ast.ClassDef):
            found.setdefault(node.name, []).append(node)
        else:
            made = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
            found.setdefault(node.name, []).extend(made)
    return found


def effects_by_name(definition: ast.AST, *trees: ast.AST) -> tuple[frozenset[str], bool]:
    """The attributes that a function assigns, and whether it may cut graphs: itself, or through the functions of these
    files, by their names.
    """
    known = [_defined(tree) for tree in trees]
    todo, seen, found, cuts = [definition], {definition}, set[str](), False
    while todo:
        attributes, called, is_cut = _own_effects(todo.pop())
        found |= attributes
        cuts = cuts or is_cut
        inside = {each for name in called for defined in known for each in defined.get(name, ())} - seen
        seen |= inside
        todo += inside
    return frozenset(found), cuts
