"""Which functions are tests: what pytest and unittest collect, by their documented conventions.

tests/test_net.py
    def test_forward(model): ...          pytest, by the names of the file and the function
    class TestNet:
        def test_backward(self): ...      pytest, by the names of the class and the method
    class Forward(unittest.TestCase):
        def test_shape(self): ...         unittest, by the class that it derives from
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...domain.mro import mro_of
from ...domain.state import State
from ...domain.values import Class, Function, HeapRef
from ...engine.machine import Machine
from ...engine.syntax.syntactic_summary import is_abstract
from ...models.frameworks.training_loops import TEST_CASE, derives


def is_test(machine: Machine, state: State, function: Function, owner: HeapRef | None) -> bool:
    """Whether a function, or a method of a class, is run as a test."""
    if isinstance(function.node, ast.Lambda):
        return False
    name = function.node.name
    if owner is None:
        return machine.collects_tests and machine.tests.is_test_function(name)
    if derives(state, owner, TEST_CASE):
        return name.startswith("test")
    return is_test_class(machine, state, owner) and machine.tests.is_test_function(name)


def inherited_tests(machine: Machine, state: State, kind: HeapRef) -> Iterator[Function]:
    """The tests that a class has of those that it derives from, wherever they are defined."""
    if not is_test_class(machine, state, kind):
        return
    seen = set(state.get(kind.id, Class).attributes)
    for base in mro_of(state, kind):
        thing = state.heap[base.id] if isinstance(base, HeapRef) else None
        for name, value in thing.attributes.items() if isinstance(thing, Class) else ():
            if name not in seen and isinstance(value, Function) and _is_run(machine, state, value, kind):
                yield value
            seen.add(name)


def _is_run(machine: Machine, state: State, function: Function, kind: HeapRef) -> bool:
    return is_test(machine, state, function, kind) and not machine.query(is_abstract, function.node)


def is_test_class(machine: Machine, state: State, kind: HeapRef) -> bool:
    """Whether the methods of a class are tests."""
    if derives(state, kind, TEST_CASE):
        return True
    return machine.collects_tests and machine.tests.is_test_class(state.get(kind.id, Class).name)
