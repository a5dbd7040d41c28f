"""When two paths are the same path: alike in all that autograd cares about.

    if verbose:
        count = count + 1     # the two sides differ in a number: they are merged, and the number is forgotten

Objects that the paths made separately are alike if they were made at the same place in the same iteration and hold
what is alike; graphs are alike if the same operations built them, freed alike and spoiled alike. Differences in plain
values (numbers, text, data no graph has saved, things unknown) are forgotten. Any other difference keeps the paths
apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from ..autograd import Facts, Iteration, Provenance, leaf
from ..autograd.gradients import history
from ..because import NOTHING
from ..bounds import BOUNDS
from . import facets
from .completion import Return
from .equivalence import MISSING, Bisimulation, Change, Keys, Partly, refers_back
from .options import options_among
from .reachability import JoinPoint
from .state import State
from .traversal import entries
from .values import (
    TRUE,
    BuiltinMethod,
    Class,
    Const,
    HeapRef,
    Instance,
    Mapping,
    Optimizer,
    Sequence,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    something,
)


def try_join(state: State, other: State, facts: Facts, suspects: list[int], meeting: JoinPoint) -> bool:
    """Whether ``state`` adds nothing to ``other``; if so ``other`` has forgotten what they did not agree on.

    Of a tensor that no node has ever saved it does not matter any more how often it was written.
    ``suspects`` are the heap objects that last distinguished paths: looked at first, for they will do so again. Where
    it is known what is live at the ``meeting``, what no code holds any more does not matter.
    """
    meeting.work += BOUNDS.cheap_join
    if not _same_context(state, other):
        return False
    pair = Bisimulation(state, other, facts, meeting)
    if not pair.is_same_completion():
        return False
    if not pair.is_equivalent(suspects):
        return False
    history.met(state, other)
    _keep_collected(state, other, meeting)
    havoc(pair, other, pair.plain)
    if pair.results is not None:
        other.completion = Return(_result(pair, other, *pair.results))
    meeting.forgotten = pair.plain
    if not state.supposed:
        other.supposed = NOTHING
    other.guard = state.guard.either(other.guard)
    _forget_conditions(state.path_condition, other.path_condition)
    return True


def _keep_collected(state: State, other: State, meeting: JoinPoint) -> None:
    """What loops have collected on the path that ends here, and no code on it holds any more, was collected; what they
    have on both was, whichever way they went.
    """
    mine, yours = state.retained_after_loop, other.retained_after_loop
    held = meeting.held(state) if mine.keys() - yours.keys() else set[int]()
    for statement, each in mine.items():
        if statement in yours:
            guard = yours[statement].stored.point.guard.either(each.stored.point.guard)
            yours[statement] = yours[statement].under(guard)
        elif each.tensor not in held:
            yours[statement] = each
            tensor = other.tensors[each.tensor] = state.tensors[each.tensor]
            for theirs, passes in ((other.freed, state.freed), (other.retained, state.retained)):
                if tensor.grad_fn in passes:
                    theirs[tensor.grad_fn] = passes[tensor.grad_fn]


def _forget_conditions(mine: dict[Hashable, bool], yours: dict[Hashable, bool]) -> None:
    """Keep of what one path assumes what the other does, too. Most of it is the same object on both: to hash a formula
    takes longer than to find that out.
    """
    same = {(id(formula), taken) for formula, taken in mine.items()}
    unlike = [(formula, taken) for formula, taken in yours.items() if (id(formula), taken) not in same]
    for formula, taken in unlike:
        if mine.get(formula) != taken:
            del yours[formula]


def _same_context(state: State, other: State) -> bool:
    """Whether two paths go on at the same place, in the same modes, under the same hooks and in the same iterations."""
    return (
        type(state.completion) is type(other.completion)
        and state.grad_mode == other.grad_mode
        and state.saved_tensor_override == other.saved_tensor_override
        and state.frame == other.frame
        and state.evaluated == other.evaluated
        and (
            not (state.hooks or other.hooks)
            or [hook.made for hook in state.hooks.values()] == [hook.made for hook in other.hooks.values()]
        )
        and same_iterations(state.iterations, other.iterations)
        and history.has_clipped_early(state) is history.has_clipped_early(other)
    )


def same_iterations(left: tuple[Iteration, ...], right: tuple[Iteration, ...]) -> bool:
    return left == right or [(lap.loop, lap.number) for lap in left] == [(lap.loop, lap.number) for lap in right]


def havoc(pair: Bisimulation, path: State, changes: Iterable[Change]) -> None:
    """Which of two plain values an object holds is not known any more on ``path``, which is one of the two."""
    for left, right, name in changes:
        key = left if path is pair.state else right
        thing = path.edit(key, type(path.heap[key]))
        if name is Partly.EXTENT:
            assert isinstance(thing, (Sequence, Mapping, Instance, Optimizer)), "what may hold more"
            thing.is_partial = True
        elif isinstance(thing, Sequence):
            lists = pair.state.get(left, Sequence), pair.other.get(right, Sequence)
            _havoc_items(pair, path, thing, lists, name is Partly.ITEMS)
        else:
            mine = entries(pair.state.heap[left]).get(name, MISSING)
            yours = entries(pair.other.heap[right]).get(name, MISSING)
            if isinstance(thing, (Instance, Class)):
                _havoc_attribute(pair, path, thing, (key, left, right), name)
            elif isinstance(thing, Mapping) and MISSING in (mine, yours):
                thing.is_partial = True
                thing.items.pop(name, None)
            else:
                entries(thing)[name] = _either(pair, path, mine, yours, str(name))


def _havoc_items(
    pair: Bisimulation, path: State, thing: Sequence, lists: tuple[Sequence, Sequence], are_alike: bool
) -> None:
    """The same of a list; ``lists`` are what it was on the two paths. Items that ``are_alike`` differ in constants."""
    mine, yours = lists
    both = [*zip(mine.items, yours.items)]
    if are_alike:
        thing.items = [_merged(pair, path, one, two, "item") for one, two in both]
        return
    thing.is_partial = mine.is_partial or yours.is_partial or len(mine.items) != len(yours.items)
    thing.items = [one if one == two else _either(pair, path, one, two, "item") for one, two in both]


def _havoc_attribute(
    pair: Bisimulation, path: State, thing: Instance | Class, keys: tuple[int, int, int], name: str
) -> None:
    """The same of an attribute; ``keys`` are the object's after the join and on each of the two paths. Where only one
    of them had set it, it may not be there.
    """
    key, left, right = keys
    mine = entries(pair.state.heap[left]).get(name, MISSING)
    yours = entries(pair.other.heap[right]).get(name, MISSING)
    if MISSING in (mine, yours) and not facets.is_facet(name):
        thing.attributes[facets.doubted(name)] = TRUE
    found = _back(mine, yours, (left, right), key, name) if isinstance(thing, Instance) else None
    thing.attributes[name] = _either(pair, path, mine, yours, name) if found is None else found


def _back(mine: Value, yours: Value, keys: Keys, key: int, name: str) -> Value | None:
    """What only one path has set and adds nothing to the object, which is ``key`` now (`refers_back`); None for
    anything else.
    """
    if not refers_back(mine, keys[0], name) and not refers_back(yours, keys[1], name):
        return None
    return (
        HeapRef(key) if isinstance(mine if yours is MISSING else yours, HeapRef) else BuiltinMethod(HeapRef(key), name)
    )


def _either(pair: Bisimulation, path: State, mine: Value, yours: Value, name: str) -> Value:
    """What is known of a value that is one of two: whether it is a tensor that needs no gradient (of the sizes and the
    dtype that both have), or no tensor.

    Where one of them is nothing that is known, it is a tensor (or a tuple of them) all the same: what happens to it
    happens on the path on which it was one (``state = zeros(8) if state is None else state``).
    """
    if isinstance(mine, Tuple) and isinstance(yours, Tuple) and not _are_plain(pair, mine, yours):
        return _merged(pair, path, mine, yours, name)
    if isinstance(mine, TensorRef) and isinstance(yours, TensorRef):
        one, two = pair.state.tensors[mine.id], pair.other.tensors[yours.id]
        if one.requires_grad is False and two.requires_grad is False:
            sizes = two.sizes if one.sizes == two.sizes else None
            kind = two.kind if one.kind == two.kind else None
            made = leaf(path, two.created_at.node, sizes=sizes, kind=kind)
            mine_lost, lost = (pair.facts.provenance_of(each.id).cut for each in (one, two))
            if mine_lost is not None and lost is not None and mine_lost.is_like(lost):
                pair.facts.record_provenance(made, Provenance(cut=lost))
            return TensorRef(made)
    return _one_of(pair, path, mine, yours, name)


def _one_of(pair: Bisimulation, path: State, mine: Value, yours: Value, name: str) -> Value:
    """The same of values that are not both tensors, nor tuples that hold some."""
    match mine, yours:
        case (Unknown(), Unknown()) if pair.are_read(mine, yours):
            return mine if path is pair.state else yours
        case (Unknown(), _):
            return _perhaps(pair.other, path, yours, mine, name)
        case (_, Unknown()):
            return _perhaps(pair.state, path, mine, yours, name)
    return something(name, False if _is_number(mine) and _is_number(yours) else None)


def _result(pair: Bisimulation, path: State, mine: Value, yours: Value) -> Value:
    """What is known of a call that returns one of two plain values: tensors that need no gradient stay such, and so
    do tuples of them of one length. Not where one path has decided an option and the other has not: after the join it
    is open, and where it is decided otherwise only that other path goes on.
    """
    one, two = (options_among(path.path_condition) for path in (pair.state, pair.other))
    if one != two:
        return Unknown("result")
    if isinstance(mine, Tuple) and isinstance(yours, Tuple) and len(mine.items) == len(yours.items):
        items = [_result(pair, path, one, two) for one, two in zip(mine.items, yours.items)]
        if all(isinstance(item, (TensorRef, Tuple)) for item in items):
            return Tuple(tuple(items))
    is_tensor = isinstance(mine, TensorRef) and isinstance(yours, TensorRef)
    found = _either(pair, path, mine, yours, "result") if is_tensor else None
    return found if isinstance(found, TensorRef) else Unknown("result")


def _are_plain(pair: Bisimulation, mine: Value, yours: Value) -> bool:
    return pair.is_plain(pair.state, mine) and pair.is_plain(pair.other, yours)


def _merged(pair: Bisimulation, path: State, mine: Value, yours: Value, name: str) -> Value:
    """What two values have in common that are alike but for constants in them."""
    if isinstance(mine, Const) and isinstance(yours, Const) and mine != yours:
        return _either(pair, path, mine, yours, name)
    if isinstance(mine, Tuple) and isinstance(yours, Tuple):
        items = tuple(_merged(pair, path, one, two, name) for one, two in zip(mine.items, yours.items))
        return Tuple(items, yours.names, yours.is_spelled)
    return mine if path is pair.state else yours


def _perhaps(state: State, path: State, value: Value, unknown: Unknown, name: str) -> Value:
    """A value of the path ``state`` that is nothing known on the other one."""
    if isinstance(value, TensorRef):
        tensor = state.tensors[value.id]
        grad = False if tensor.requires_grad is False and unknown.requires_grad is False else None
        return TensorRef(leaf(path, tensor.created_at.node, grad))
    if isinstance(value, Tuple) and any(isinstance(item, TensorRef) for item in value.items):
        return Tuple(tuple(_perhaps(state, path, item, unknown, name) for item in value.items), value.names)
    return something(name, False if _is_number(value) and unknown.requires_grad is False else None)


def _is_number(value: Value) -> bool:
    return (
        isinstance(value, Const) and value is not MISSING or isinstance(value, Unknown) and value.requires_grad is False
    )
