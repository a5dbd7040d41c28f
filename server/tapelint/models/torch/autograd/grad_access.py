"""Gradients that the program handles itself, and gradients in the hands of unknown code.

for p in net.parameters():
    p.grad = None              # cleared by hand
norm = net.fc.weight.grad.norm()   # read: the backward that made it was of use
trainer.after_step(net)        # unknown; nothing is concluded from these gradients until they are cleared
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator

from ....autograd import Leaf, Provenance
from ....autograd.gradients import history
from ....autograd.gradients.ledger import planned
from ....autograd.gradients.withheld import Fates
from ....because import NOTHING
from ....domain.state import State
from ....domain.values import (
    NONE,
    BoundMethod,
    BuiltinMethod,
    External,
    Function,
    HeapRef,
    Instance,
    Mapping,
    Optimizer,
    Partial,
    Sequence,
    TensorRef,
    Tuple,
    Unknown,
    Value,
)
from ....engine.machine import Machine
from ....engine.open_objects import is_harmless
from ....engine.syntax.asked import GRADIENTS
from ....source import blocks, cached_on_node, own_attribute, walk
from ..nn import frozen_parts
from ..nn.module_registry import parameters_of
from ..optim.own_optimizers import note_asked, stepping
from .grad_use import use_grads
from .tensor_hooks import is_clipping

CLEARING = frozenset(("zero_grad", *GRADIENTS, "zero_"))
CLEARING_ONLY = frozenset(("zero_grad", "zero_"))

TOUCHING = frozenset("zero_grad grad _grad zero_ step backward unscale_".split())
"""Attributes by which a program reaches gradients and what uses them: of torch.Tensor, torch.nn.Module,
torch.optim.Optimizer, and of torch.amp.GradScaler.
"""


def assign_grad(machine: Machine, state: State, leaf: int, value: Value, node: ast.AST) -> None:
    """``p.grad = value``."""
    origins = machine.facts.provenance_of(value.id) if isinstance(value, TensorRef) else Provenance()
    gradient = origins.gradient_of
    if value == NONE:
        cleared_by_hand(machine, state, leaf, node)
    elif (
        isinstance(value, TensorRef)
        and origins.from_gradient
        and is_clipping(made := state.tensors[value.id].created_at)
    ):
        history.clipped(state, [leaf], made)  # of its own: `p.grad = p.grad.clamp(-1, 1)`
    elif gradient is not None and gradient == leaf:  # it was wanted for this
        machine.facts.training.wanted_gradients.discard(leaf)
        history.assigned(state, leaf, planned(machine.facts, state, (), node, (), (), (Leaf(leaf),), NOTHING, False))
    else:
        history.doubted(state, [leaf])
        machine.unit.notes.record(Fates).use(state, [leaf])


def cleared_by_hand(machine: Machine, state: State, leaf: int, node: ast.AST) -> None:
    point, premises = state.point(node), machine.facts.relevant_assumptions(state)
    if stepping(machine, state, leaf) is not None:  # it has used it before
        history.stepped(state, [leaf], point, premises)
    history.cleared(state, [leaf], point, premises)
    machine.unit.notes.record(Fates).discard(state, [leaf])
    # A loop over all of them shows no more; and a leaf of some `param_groups` stands for any.
    one = state.tensors[leaf]
    if len(state.history) > machine.limits.max_unroll or one.is_guessed and not one.stands_for_module:
        history.doubted(state, [key for key, past in state.history.items() if past.passes])


def read_grad(machine: Machine, state: State, leaf: int, node: ast.AST) -> None:
    """``p.grad`` was asked for."""
    note_asked(machine, state, leaf)
    if node in _glances(machine.tree):
        return
    history.looked_at(state, leaf if leaf in state.history else None)
    machine.unit.notes.record(Fates).use(state, [leaf])
    machine.facts.training.wanted_gradients.add(leaf)
    if leaf in state.grads:
        machine.facts.record_provenance(state.grads[leaf], Provenance(from_gradient=True))


def follow_op(
    machine: Machine, state: State, given: Collection[int], results: Iterable[int], target: int | None, node: ast.AST
) -> None:
    """An op ran on tensors, among them perhaps some that came of a gradient: so do its results.

    Where it writes them into the leaf itself, that is a step by hand: ``w -= 0.1 * w.grad``. It uses what the program
    has read, though ``.grad`` may have been cleared since: ``g = w.grad.clone(); w.grad = None; w -= 0.1 * g``.
    """
    facts = machine.facts
    others = [key for key in given if not facts.provenance_of(key).from_gradient]
    if len(others) == len(given):
        return
    if target is None:
        leaves = [*{state.tensors[key].storage for key in others}.intersection(state.history)]
        learned = Provenance(from_gradient=True, update_of=leaves[-1] if leaves else None)
        for key in results:
            facts.record_provenance(key, learned)
        return
    leaf = state.tensors[target].storage
    past = state.history.get(leaf)
    if past is None or facts.provenance_of(target).from_gradient or stepping(machine, state, leaf) is not None:
        return
    if past.clearings and not past.passes:
        history.stepped(state, [leaf], state.point(node), facts.relevant_assumptions(state))
        machine.unit.notes.record(Fates).use(state, [leaf])
    else:
        use_grads(machine, state, [leaf], node)


def unknown_gradient(machine: Machine, state: State) -> None:
    """``.grad`` of something we do not know: it may be any gradient, and what is done with it anything."""
    history.looked_at(state, None)
    history.doubted(state)
    machine.unit.notes.record(Fates).use(state, None)


@cached_on_node
def _glances(tree: ast.AST) -> frozenset[ast.AST]:
    """Where ``.grad`` is asked for and its value not used: ``p.grad is None``, ``p.grad.zero_()``."""
    found: list[ast.AST] = []
    for node in walk(tree):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            found.append(node.left)
        elif isinstance(node, ast.If):
            found.append(node.test)
        elif isinstance(node, ast.BoolOp):
            found += node.values
        elif isinstance(node, ast.Attribute) and node.attr in ("zero_", "detach_", "requires_grad_"):
            inner = node.value
            found.append(inner.value if isinstance(inner, ast.Attribute) and inner.attr == "data" else inner)
    return frozenset(n for n in found if isinstance(n, ast.Attribute) and n.attr == "grad")


# Unknown code

ELSEWHERE = ("multiprocessing.", "torch.optim.lr_scheduler.")
"""Libraries that are given networks and optimizers and leave their gradients alone: another process has its own."""


def handed_over(machine: Machine, state: State, function: Value, given: Iterable[Value]) -> frozenset[int]:
    """An unknown call: it may do anything to the gradients of the networks and optimizers it can reach, and to the
    flags of the networks it is given.

    What it returns may keep them and do so later.
    """
    values = [v for v in given if not isinstance(v, Unknown) or v.tensor_id in machine.facts.objects.holders]
    name = function.name if isinstance(function, External) else ""
    if is_harmless(function) or name.startswith(ELSEWHERE) or not values and isinstance(function, External):
        return frozenset()
    reached = set(reach(machine, state, [*values, function]))
    frozen_parts.note_handed(state, values)
    if reached and not name.startswith("torch."):
        history.doubted(state, reached.intersection(state.history), is_passing=True)
        for key in [*machine.facts.networks.mode_set]:  # it may set their modes
            if key in state.heap and any(leaf in reached for _, leaf in parameters_of(state, HeapRef(key))):
                del machine.facts.networks.mode_set[key]
        machine.unit.notes.record(Fates).use(state, reached)
    return frozenset(reached)


def reach(machine: Machine, state: State, values: Iterable[Value], most: int = 400) -> Iterator[int]:
    """The leaves that code which holds ``values`` can get at; ``most`` values are searched."""
    todo = list(values)
    seen: set[int] = set()
    while todo and len(seen) < most:
        value = todo.pop()
        match value:
            case TensorRef():
                tensor = state.tensors[value.id]
                if tensor.grad_fn is None and tensor.requires_grad is not False:
                    yield value.id
            case Unknown():
                yield from machine.facts.objects.holders.get(value.tensor_id, ())
            case Function():
                if reaches(machine, value.node):
                    yield from state.history
            case HeapRef():
                if value.id not in seen:
                    seen.add(value.id)
                    thing = state.heap[value.id]
                    todo += _held_by(thing)
                    if isinstance(thing, Optimizer):
                        yield from thing.params
                    yield from machine.facts.networks.made_for.get(value.id, ())
                    if value.id in machine.facts.networks.handed_optimizers:
                        yield from machine.facts.networks.handed_leaves
            case _:
                todo += _parts(value)


def _parts(value: Value) -> tuple[Value, ...]:
    """The values that an immutable value is made of."""
    match value:
        case Tuple():
            return value.items
        case BuiltinMethod():
            return (value.receiver,)
        case BoundMethod():
            return (value.function, value.receiver)
        case Partial():
            return (value.function, *value.args, *(v for _, v in value.kwargs))
    return ()


def _held_by(thing: object) -> Iterable[Value]:
    """The values that an object on the heap holds."""
    match thing:
        case Sequence():
            return thing.items
        case Mapping():
            return thing.items.values()
        case Instance():
            return thing.attributes.values()
    return ()


def between_calls(machine: Machine, state: State, method: ast.AST, receiver: HeapRef | None) -> None:
    """Code that calls a method again and again may clear gradients in between, if anything else in the file does."""
    networks, thing = machine.facts.networks, None if receiver is None else state.heap[receiver.id]
    held = {} if not isinstance(thing, Instance) else thing.attributes
    clearings = machine.query(_clearings, machine.tree) - _clearings(method)
    for name in clearings:
        history.doubted(state, _that_may_be_held(state, held.get(name)))
    for name in machine.query(_stepped, machine.tree) - _stepped(method):
        by = held.get(name)
        parts = () if not isinstance(by, HeapRef) else (by, *_held_by(state.heap[by.id]))
        for part in parts:
            optimizer = state.heap[part.id] if isinstance(part, HeapRef) else None
            if isinstance(optimizer, Optimizer):
                machine.facts.training.trained_by_others.update(optimizer.params)
    if clearings and any(key in state.heap for key in networks.handed_optimizers):  # it may be what another one clears
        history.doubted(state, networks.handed_leaves.keys() & state.history.keys())


def _that_may_be_held(state: State, by: Value | None) -> list[int] | None:
    """The leaves with gradients that an optimizer may hold: where not all is known of it, those too that were there
    when it was made. None, which is all, of what is no optimizer.
    """
    optimizer = state.heap[by.id] if isinstance(by, HeapRef) else None
    if not isinstance(by, HeapRef) or not isinstance(optimizer, Optimizer):
        return None
    known, others = state.history.keys() & optimizer.params, state.history.keys() - optimizer.params
    tensors = [state.tensors[key] for key in others if optimizer.is_partial]
    return [*known, *(t.id for t in tensors if t.id < by.id or t.stands_for_module or t.assumption is not None)]


@cached_on_node
def _clearings(node: ast.AST) -> Counter[str]:
    """How often some code clears gradients by ``self.x.zero_grad()``, for each ``x``, and otherwise, by no name. What
    is called is no gradient: ``autograd.grad(y, x)``.
    """
    calls = {n.func for n in walk(node) if isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "grad"}
    found = (n for n in walk(node) if isinstance(n, ast.Attribute) and n.attr in CLEARING and n not in calls)
    return Counter((own_attribute(n.value) if n.attr == "zero_grad" else None) or "" for n in found)


@cached_on_node
def _stepped(node: ast.AST) -> Counter[str]:
    """How often some code steps with each ``x``: ``self.x.step()``, ``scaler.step(self.x)``, ``self.x["all"].step()``
    or ``for optimizer in self.x: optimizer.step()``.
    """
    steps = {n for n in walk(node) if isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "step"}
    loops = (n.iter for n in walk(node) if isinstance(n, ast.For) and not steps.isdisjoint(walk(n)))
    return Counter(name for n in (*steps, *loops) for inner in walk(n) if (name := own_attribute(inner)))


# Conditions on which it depends what is cleared or stepped


@cached_on_node
def facts(node: ast.AST) -> tuple[frozenset[str], bool, frozenset[str]]:
    """By which attributes some code reaches for gradients, whether it jumps out, and the names of what it calls."""
    if isinstance(node, ast.If):  # what stands in it is asked about by itself, too
        parts = [facts(part) for part in (node.test, *node.body, *node.orelse)]
        reaching, jumping, calling = zip(*parts)
        return frozenset().union(*reaching), any(jumping), frozenset().union(*calling)
    touched, called = set(), set()
    for inner in walk(node):
        if isinstance(inner, ast.Attribute):
            if inner.attr in TOUCHING:
                touched.add(inner.attr)
        elif isinstance(inner, ast.Call):
            name = getattr(inner.func, "attr", getattr(inner.func, "id", None))
            if name is not None:
                called.add(name)
    return frozenset(touched), _jumps_out(node), frozenset(called)


def _jumps_out(node: ast.AST) -> bool:
    """Whether some code may jump out of it: a loop in it is left by its own ``break``, a function by its ``return``."""
    match node:
        case ast.Return() | ast.Break() | ast.Continue():
            return True
        case ast.For() | ast.AsyncFor() | ast.While():
            returns = any(isinstance(part, ast.Return) for part in walk(node))
            return returns or any(map(_jumps_out, node.orelse))
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.expr():
            return False
    return any(map(_jumps_out, blocks(node)))


@cached_on_node
def _definitions(statement: ast.AST) -> list[tuple[int, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The functions in a statement, each with its depth."""
    found, level, depth = [], [statement], 0
    while level:
        found += [(depth, n) for n in level if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
        level = [child for node in level for child in blocks(node)]
        depth += 1
    return found


@cached_on_node
def _touching(tree: ast.AST) -> dict[str, frozenset[str]]:
    """How the file's functions reach for gradients, themselves or through others; those that do not are left out."""
    assert isinstance(tree, ast.Module)
    defined = [found for statement in tree.body for found in _definitions(statement)]
    known = {node.name: facts(node) for _, node in sorted(defined, key=lambda found: found[0])}
    found = {name: touched for name, (touched, _, _) in known.items()}
    changed = True
    while changed:
        changed = False
        for name, (_, _, called) in known.items():
            more = found[name].union(*(found[other] for other in called if other in found))
            changed |= more != found[name]
            found[name] = more
    return {name: touched for name, touched in found.items() if touched}


def reaches(machine: Machine, node: ast.AST) -> frozenset[str]:
    """How some code reaches for gradients, through functions of this file and of those it imports as well."""
    return machine.query(through, node, *machine.trees)


def through(node: ast.AST, *trees: ast.AST) -> frozenset[str]:
    """How some code reaches for gradients, itself or through the functions of these files, by their names."""
    touched, _, called = facts(node)
    for tree in trees if called else ():
        known = _touching(tree)
        if known and not called.isdisjoint(known):
            touched = touched.union(*(known[name] for name in called if name in known))
    return touched


def weigh(machine: Machine, state: State, node: ast.If, key: Hashable, negated: bool) -> None:
    """Remember whether it may depend on a test what becomes of gradients: a side of it touches them, or jumps past code
    that does. ``key`` is the formula of the test, or of its negation.
    """
    reached = reaches(machine, node)
    _weigh_sides(machine, node, key, negated, bool(reached))
    if facts(node)[1]:
        calls = machine.context.call_stack
        reached |= reaches(machine, calls[-1][0] if calls else machine.running_file(state))
    if reached:
        before = machine.facts.training.gradient_relevant.get(key, frozenset())
        machine.facts.training.gradient_relevant[key] = before | {node} if reached & CLEARING else before


def _weigh_sides(machine: Machine, node: ast.If, key: Hashable, negated: bool, touches: bool) -> None:
    """Remember of which ``if``, and with which truth of a formula, passes may reach more than with the other."""
    training, jumping = machine.facts.training, _jumping(node)
    more = machine.query(_reaching_more, node, *machine.trees)
    sides = {(node, each is not negated) for each in more}
    training.reaching_when[key] = training.reaching_when.get(key, frozenset()) | sides
    leaving = None if touches or len(jumping) != 1 else (True in jumping) is not negated
    training.leaves_when[key] = leaving if training.leaves_when.get(key, leaving) is leaving else None


def _reaching_more(node: ast.AST, *trees: ast.AST) -> list[bool]:
    """With which results of the test of an ``if`` passes may reach more than with the other."""
    assert isinstance(node, ast.If)
    return [
        truth
        for truth, side in ((True, node.body), (False, node.orelse))
        if (not truth) in _jumping(node) or any(through(statement, *trees) - CLEARING_ONLY for statement in side)
    ]


@cached_on_node
def _jumping(node: ast.AST) -> frozenset[bool]:
    """With which results of its test an ``if`` may jump away."""
    assert isinstance(node, ast.If)
    sides = ((True, node.body), (False, node.orelse))
    return frozenset(truth for truth, side in sides if any(facts(statement)[1] for statement in side))
