"""Who hears of an event, and what is added to it on the way."""

from __future__ import annotations

import ast

import pytest

from tapelint.autograd import EventBus, Facts, ProgramPoint
from tapelint.autograd.events.graph_walks import Event, GraphTensorWritten, LeafWritten
from tapelint.because import NOTHING, guess

POINT = ProgramPoint(ast.Pass(), (), ())
REFUSED = LeafWritten(point=POINT, tensor=1, op="add_", view=False)
"""PyTorch raises there."""
ALLOWED = GraphTensorWritten(point=POINT, tensor=1, op="add_")


@pytest.fixture
def heard() -> list[Event]:
    return []


@pytest.fixture
def bus(heard: list[Event]) -> EventBus:
    made = EventBus()
    made.subscribe(heard.append)
    return made


def test_listeners_are_called_in_order() -> None:
    order: list[str] = []
    bus = EventBus()
    bus.subscribe(lambda _: order.append("first"))
    bus.subscribe(lambda _: order.append("second"))
    bus.publish(ALLOWED)
    assert order == ["first", "second"]


def test_an_error_that_the_program_catches_is_not_published(bus: EventBus, heard: list[Event]) -> None:
    with bus.handling(True):
        bus.publish(REFUSED)
        bus.publish(ALLOWED)
    assert heard == [ALLOWED]


def test_a_handler_of_other_errors_changes_nothing(bus: EventBus, heard: list[Event]) -> None:
    with bus.handling(False):
        bus.publish(REFUSED)
    assert heard == [REFUSED]


def test_the_innermost_reason_is_added(bus: EventBus, heard: list[Event]) -> None:
    called, kept = guess("a framework calls it"), guess("`encode` keeps a graph")
    with bus.assuming(called), bus.assuming(NOTHING):
        bus.publish(ALLOWED)
        with bus.assuming(kept):
            bus.publish(ALLOWED)
    bus.publish(ALLOWED)
    assert [event.because for event in heard] == [called, kept, NOTHING]


def test_a_reason_of_the_event_itself_comes_first(bus: EventBus, heard: list[Event]) -> None:
    own, called = guess("its own"), guess("a framework calls it")
    with bus.assuming(called):
        bus.publish(GraphTensorWritten(point=POINT, because=own, tensor=1, op="add_"))
    assert heard[0].because == own & called


def test_others_can_listen_for_a_while(bus: EventBus, heard: list[Event]) -> None:
    others: list[Event] = []
    with bus.heard_by(others.append):
        bus.publish(ALLOWED)
    bus.publish(REFUSED)
    assert others == [ALLOWED] and heard == [REFUSED]


def test_circumstances_end_with_an_exception(bus: EventBus) -> None:
    with pytest.raises(ValueError), bus.handling(True), bus.assuming(guess("a premise")), bus.heard_by():
        raise ValueError
    assert (bus.enclosing_handlers, bus.because, len(bus.listeners)) == (0, NOTHING, 1)


def test_a_fork_of_facts_has_the_listeners_and_facts_of_its_own(heard: list[Event]) -> None:
    facts = Facts()
    facts.events.subscribe(heard.append)
    facts.name(1, "loss")
    fork = facts.fork()
    fork.name(2, "total")
    with fork.events.handling(True):
        facts.events.publish(REFUSED)
        fork.events.publish(REFUSED)
    assert heard == [REFUSED]
    assert (facts.origins.names, fork.origins.names) == ({1: "loss"}, {1: "loss", 2: "total"})


def test_merged_facts_keep_the_names_given_first() -> None:
    facts, other = Facts(), Facts()
    facts.name(1, "loss")
    other.name(1, "total")
    other.training.wanted_gradients.add(7)
    facts.merge_from(other)
    assert facts.origins.names == {1: "loss"} and facts.training.wanted_gradients == {7}
