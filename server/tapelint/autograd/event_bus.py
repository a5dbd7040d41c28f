"""The event bus: brings what happens on a path to those that listen, which are the rules, hovers and tests.

facts.events.publish(LeafWritten(...))      from the model of autograd, in the order in which it happens
facts.events.subscribe(listener)            each listener is called with every event, in the order of subscription
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from ..because import NOTHING, Because
from ..source import Loop
from .events.graph_walks import Event, is_of_another
from .model.program_point import ProgramPoint

Listener = Callable[[Event], None]


@dataclass(slots=True, eq=False)
class EventBus:
    """The listeners of one analysis, and in which circumstances the running code publishes."""

    # Shared with the buses that were forked from this one.
    listeners: list[Listener] = field(default_factory=list)
    # How many handlers of the program around the running code would catch an error of PyTorch.
    enclosing_handlers: int = 0
    # What all events rest on, such as that a framework calls the running method.
    because: Because = NOTHING
    # The patterns of the handlers that catch an error only if its message is like that.
    expected_messages: tuple[str, ...] = ()
    # That the handlers around a whole training are there for other errors: for a batch that is too large.
    unexpected: Because = NOTHING
    # Where the last event was published of which PyTorch raises.
    raised_at: ProgramPoint | None = None

    def subscribe(self, listener: Listener) -> None:
        self.listeners.append(listener)

    def publish(self, event: Event) -> None:
        """Call the listeners, unless the program catches itself what PyTorch raises there."""
        if event.raises:
            self.raised_at = event.point
            if self._is_caught(event):
                return
        because = event.supposed & event.because & self.because & (self.unexpected if event.raises else NOTHING)
        if because != event.because:
            event = replace(event, because=because)
        for listener in self.listeners:
            listener(event)

    def _is_caught(self, event: Event) -> bool:
        """Whether a handler around the running code catches what PyTorch raises there: one that is there for it."""
        repeats = any(isinstance(lap.loop, Loop) for lap in event.point.iterations)
        return (
            self.enclosing_handlers > 0
            or bool(self.unexpected)
            and not repeats
            or any(not is_of_another(pattern, event.MESSAGE) for pattern in self.expected_messages)
        )

    def fork(self) -> EventBus:
        """A bus with the same listeners, and circumstances of its own."""
        return EventBus(self.listeners, self.enclosing_handlers, self.because, self.expected_messages, self.unexpected)

    @contextmanager
    def assuming(self, because: Because) -> Iterator[None]:
        """What happens inside rests on ``because``; without one on that of what is outside."""
        outer, self.because = self.because, because or self.because
        try:
            yield
        finally:
            self.because = outer

    @contextmanager
    def assuming_nothing(self) -> Iterator[None]:
        """What happens inside does not rest on the reason of what is outside."""
        outer, self.because = self.because, NOTHING
        try:
            yield
        finally:
            self.because = outer

    @contextmanager
    def handling(self, catches: bool, pattern: str | None = None) -> Iterator[None]:
        """What happens inside has a handler of the program around it, if that ``catches`` errors of PyTorch: all, or
        those whose message has the ``pattern``.
        """
        outer = self.enclosing_handlers, self.expected_messages
        if catches and pattern is None:
            self.enclosing_handlers += 1
        elif catches and pattern is not None:
            self.expected_messages += (pattern,)
        try:
            yield
        finally:
            self.enclosing_handlers, self.expected_messages = outer

    @contextmanager
    def handling_other_errors(self, because: Because) -> Iterator[None]:
        """What PyTorch raises inside is caught where no loop repeats it; in one that rests on ``because``."""
        outer, self.unexpected = self.unexpected, self.unexpected & because
        try:
            yield
        finally:
            self.unexpected = outer

    @contextmanager
    def heard_by(self, *listeners: Listener) -> Iterator[None]:
        """What happens inside reaches these listeners and no others."""
        outer, self.listeners = self.listeners, list(listeners)
        try:
            yield
        finally:
            self.listeners = outer
