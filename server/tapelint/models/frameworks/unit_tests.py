"""What tests call of pytest and unittest: what expects an exception, what ends a test, what only compares.

with pytest.raises(RuntimeError, match="second time"):     ends what is raised in its block
    loss.backward()
self.assertRaises(RuntimeError, loss.backward)             and in the function that it calls
pytest.skip("no GPU")                                      ends the test
"""

from __future__ import annotations

from ...domain.completion import ProgramRaised, ends, takes
from ...domain.mro import ANYTHING, OBJECT, kinds_of, mro_of
from ...domain.state import State
from ...domain.values import (
    NONE,
    Const,
    Expecting,
    HeapRef,
    Instance,
    Unknown,
    Value,
)
from ...engine.machine import Machine
from ..torch.registry import Call, function
from .training_loops import TEST_CASE, is_framework_object, method_of

EXPECTS = {"pytest.raises": 1, "assertRaises": 1, "assertRaisesRegex": 2, "assertWarns": 1, "assertWarnsRegex": 2}
"""What expects an exception, with the position of the function that it may call itself."""
WARNS = ("assertWarns", "assertWarnsRegex")
COMPARES = (
    *("assertEqual", "assertNotEqual", "assertTrue", "assertFalse", "assertIs", "assertIsNot", "assertIsNone"),
    *("assertIsNotNone", "assertIn", "assertNotIn", "assertIsInstance", "assertNotIsInstance", "assertAlmostEqual"),
    *("assertNotAlmostEqual", "assertGreater", "assertGreaterEqual", "assertLess", "assertLessEqual", "assertRegex"),
    *("assertNotRegex", "assertCountEqual", "assertListEqual", "assertTupleEqual", "assertSetEqual"),
    *("assertDictEqual", "assertSequenceEqual", "assertMultiLineEqual"),
)


def _is_case(state: State, receiver: HeapRef) -> bool:
    """Whether an object is a test case of unittest: its class derives from one, or from nothing, and is there to be
    derived from together with one, since it asks for methods that it does not have.
    """
    if is_framework_object(state, receiver, TEST_CASE):
        return True
    thing = state.heap[receiver.id]
    if not isinstance(thing, Instance) or thing.is_partial or not isinstance(thing.kind, HeapRef):
        return False
    return all(isinstance(kind, HeapRef) or kind == OBJECT for kind in mro_of(state, thing.kind))


@function("pytest.raises")
def raises(machine: Machine, state: State, call: Call) -> Value:
    return _expected(machine, state, call)


@function("contextlib.suppress")
def suppress(machine: Machine, state: State, call: Call) -> Value:
    return Expecting(tuple(name for kind in call.args for name in kinds_of(state, kind)))


@method_of(_is_case, *(name for name in EXPECTS if "." not in name))
def expects(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    return _expected(machine, state, call)


def _pattern(call: Call) -> str | None:
    """What the message must be like, where the program says so with a text."""
    if call.name == "assertRaisesRegex":
        said = call.get(1, "expected_regex")
    else:
        said = call.kwargs.get("match", NONE) if call.name == "pytest.raises" else NONE
    return said.value if isinstance(said, Const) and isinstance(said.value, str) else None


def _expected(machine: Machine, state: State, call: Call) -> Value:
    """A context manager; where a function is given it is called at once."""
    position = EXPECTS[call.name]
    kind = call.get(0, "expected_exception", call.kwargs.get("exception", NONE))
    found = Expecting(() if call.name in WARNS else kinds_of(state, kind), pattern=_pattern(call))
    if len(call.args) <= position or call.args[position] == NONE:
        return found
    called, *args = call.args[position:]
    depth, frame, calls, iterations = machine.context.depth, state.frame, state.calls, state.iterations
    machine.handlers_around += 1
    try:
        with machine.facts.events.handling(takes(found.kinds, ProgramRaised("RuntimeError")), found.pattern):
            machine.call(state, called, args, call.kwargs, call.node)
    except ProgramRaised as error:
        if not ends(found, error):
            raise
        machine.context.depth = depth
        state.frame, state.calls, state.iterations = frame, calls, iterations
    finally:
        machine.handlers_around -= 1
    return Unknown("exception", False)


@method_of(_is_case, "subTest")
def sub_test(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    """A part of a test after whose failure the test goes on: it fails all the same."""
    return Expecting((ANYTHING,), False)


@method_of(_is_case, *COMPARES)
def compares(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    return NONE


@function("pytest.skip", "pytest.xfail")
def skip(machine: Machine, state: State, call: Call) -> Value:
    raise ProgramRaised("Skipped", is_meant=True)


@function("pytest.fail", "pytest.exit")
def fail(machine: Machine, state: State, call: Call) -> Value:
    raise ProgramRaised("Failed", is_meant=True)


@method_of(_is_case, "skipTest", "fail")
def end_case(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    raise ProgramRaised("AssertionError" if call.name == "fail" else "SkipTest", is_meant=True)
