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

from ...domain.state import State
from ...domain.values import Class, Function, HeapRef
from ...engine.machine import Machine
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


def is_test_class(machine: Machine, state: State, kind: HeapRef) -> bool:
    """Whether the methods of a class are tests."""
    if derives(state, kind, TEST_CASE):
        return True
    return machine.collects_tests and machine.tests.is_test_class(state.get(kind.id, Class).name)
