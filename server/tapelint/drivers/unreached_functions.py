"""Functions without a caller: what they are given, and how often they are called.

class Trainer:
    def __init__(self, width=8): ...      an object is made, with inferred arguments
    def training_step(self, batch): ...   called twice on it, which is the loop its caller would write
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ..autograd import State
from ..checks import retention
from ..domain.mro import is_module, linear_order
from ..domain.values import BoundMethod, Class, Function, HeapRef, Unknown, Value, something
from ..engine.machine import Machine
from ..engine.syntactic_summary import is_abstract, outline
from ..models.frameworks.training_loops import WALKED, loop_of, prepared, unrecorded, walk_of
from ..models.torch.autograd.grad_access import between_calls, through
from ..semantics.calls import call_value
from . import framework_driver
from .inferred_arguments import inferred
from .no_grad_only import is_unrecorded

TRAINED = "somebody calls backward on the result"

TRAINING = frozenset(("backward", "step"))
HEIRS = 2
"""Of so many derived classes the methods of a class run that leaves others to them."""
IDLE = 3
"""The urgency of what does not train."""


def urgency(function: ast.AST, trees: Sequence[ast.AST]) -> int:
    """What is most likely to hold a hazard runs first, as long as the budget lasts: what reaches backward; ``forward``
    methods; what trains through functions of these files; and then what only makes something, or looks at it.
    """
    if outline(function).backward or getattr(function, "name", "") in WALKED:
        return 0
    if getattr(function, "name", "") == "forward":
        return 1
    return 2 if through(function, *trees) & TRAINING else IDLE


def uncalled(m: Machine, state: State, module: int) -> Iterator[tuple[Function, HeapRef | None]]:
    """Functions of the module, then methods of its classes, that were never run."""

    defined = {statement.name for statement in m.tree.body if isinstance(statement, ast.FunctionDef)}

    def is_own(function: Function) -> bool:
        """Not imported from another file, which is where it is tried out."""
        return state.heap[function.frame].module == module

    for name, value in list(state.heap[module].variables.items()):
        if isinstance(value, Function) and isinstance(value.node, ast.FunctionDef):
            if name in defined or is_own(value):  # or a decorator from another file has wrapped it
                yield value, None
        elif isinstance(value, HeapRef) and isinstance(thing := state.heap.get(value.id), Class):
            complete = _completed(m, state, module, value)
            for function in list(thing.attributes.values()):
                if not isinstance(function, Function) or function.owner != value.id or not is_own(function):
                    continue
                name = function.node.name
                if name != "__init__":
                    heirs = [heir for heir in complete if name not in state.heap[heir.id].attributes]
                    for owner in (heirs if not m.ask(is_abstract, function.node) else []) or [value]:
                        yield function, owner


def _completed(m: Machine, state: State, module: int, base: HeapRef) -> list[HeapRef]:
    """The first classes of the module that define what ``base`` leaves to derived ones: its methods run on theirs."""
    left = {
        name
        for name, function in state.heap[base.id].attributes.items()
        if isinstance(function, Function) and m.ask(is_abstract, function.node)
    }
    if not left:
        return []
    others = [other for other in state.heap[module].variables.values() if isinstance(other, HeapRef) and other != base]
    kinds = [other for other in others if isinstance(state.heap.get(other.id), Class)]
    heirs = [other for other in kinds if left <= state.heap[other.id].attributes.keys()]
    return [heir for heir in heirs if base in linear_order(state, heir)][:HEIRS]


def drive(m: Machine, base: tuple[State, Any], module: int, function: Function, owner: HeapRef | None) -> list[State]:
    """Run one function with inferred arguments; a method on an object made with inferred arguments."""
    state, args = base[0].fork(), list[Value]()
    if owner is not None and function.kind != "static":
        args.append(owner if function.kind == "class" else base[1])
    if outline(function.node).yields:
        return [state]
    loop = loop_of(m, state, owner, function.node.name) if owner is not None and base[1] in args else None
    if loop is not None:
        return framework_driver.run_loop(m, state, loop, base[1], function.node)
    quiet = unrecorded(state, owner, function.node.name) if owner is not None else None
    if quiet is not None:
        function = replace(function, grad_mode=False)
    bound = BoundMethod(function, args[0]) if args else function
    spec = function.node.args
    names = [*spec.posonlyargs, *spec.args][len(args) :]
    given = inferred(m, state, function, names)
    values = {a.arg: given[a.arg] for a in (*names, *spec.kwonlyargs) if a.arg in given}

    premise = quiet.premise(function.node.name) if quiet is not None else None
    if m.ask(is_unrecorded, m.tree, function.node) and not trains(m, function.node):
        state.enter(False, None)
        premise = premise or f"`{function.node.name}` is called under `torch.no_grad()`, as the file mentions it"
    forward = function.node.name == "forward" and owner is not None and is_module(state, owner)
    walk = walk_of(state, owner, args[0], function.node.name) if owner is not None and bound is not function else None
    if walk is not None and walk.fed or quiet is not None and quiet.fed.fullmatch(function.node.name):
        first = names[0].arg if names else ""
        for key, value in values.items():
            if isinstance(value, Unknown):
                values[key] = Unknown("batch", False) if key == first else something(key, False)

    def effect(s: State) -> None:
        result = m.once(function.node, "drive", partial(called, s))
        if forward:
            framework_driver.imagine_backward(m, s, framework_driver.with_graph(s, result), function.node, TRAINED)
        elif walk is not None:
            framework_driver.batch_ends(m, s, walk, args[0], result, function.node)
        if not retention.is_vague(s, result):
            around = s.heap[s.heap[function.frame].module].variables.values()
            retention.tell(m, s, [result, *args, *values.values(), *around])

    def called(s: State, key: object) -> Value:
        if walk is not None:
            if s.iterations[-1].number == 1:
                framework_driver.begin(m, s, walk, args[0], function.node)
            framework_driver.batch_begins(m, s, walk, args[0], function.node)
        return call_value(m, s, bound, [], dict(values), function.node, key)

    if premise is None:
        return _driven(m, state, function, owner, forward, effect)
    with framework_driver.resting(m, premise):
        is_once = forward or quiet is not None
        return _driven(m, state, function, owner, is_once, effect)


def trains(m: Machine, function: ast.AST) -> bool:
    """Whether a function goes backward, through functions of this file and those it imports as well."""
    return "backward" in m.ask(through, function, m.tree, *(module.source.tree for module in m.loads))


def _driven(
    m: Machine, state: State, function: Function, owner: HeapRef | None, is_once: bool, effect: Callable[[State], None]
) -> list[State]:
    """Run it once, or again and again where that is what its caller does."""
    if owner is None or is_once:
        return m.run_paths(state, effect)
    ready = prepared(state, owner)
    if ready is not None and ready.once:
        return m.run_paths(state, effect)
    return again_and_again(m, state, function, effect)


def again_and_again(m: Machine, state: State, function: Function, effect: Callable[[State], None]) -> list[State]:
    """A method that reaches backward is called once per step by code that trains: run it twice on the same object,
    which is the loop its caller would write.
    """
    run, before = m.new_run(), m.stats.backwards
    m.lap(state, function.node, run, 1, 0)
    ended = m.run_paths(state, effect)
    if m.stats.backwards == before:
        return ended
    results: list[State] = []
    ended = m.join_and_cap(ended)
    for path in ended:
        if path.signal is None:
            m.lap(path, function.node, run, 2, 0)
            between_calls(m, path, function.node)
            results += m.run_paths(path, effect)
        else:
            results.append(path)
    return results
