"""Signal handlers of a command, beside libraries that have their own way with signals."""

from __future__ import annotations

import signal

import pytest

from tapelint.cli.signals import Interrupted, handlers_kept, interruptible


def test_an_interrupt_that_a_library_makes_plain_keeps_its_signal() -> None:
    """Ray waits in C, and raises a plain KeyboardInterrupt where our handler raised Interrupted."""
    with pytest.raises(Interrupted) as caught, interruptible():
        try:
            signal.raise_signal(signal.SIGTERM)
        except Interrupted:
            raise KeyboardInterrupt from None
    assert caught.value.status == 128 + signal.SIGTERM


def test_a_plain_interrupt_without_a_signal_stays_what_it_is() -> None:
    with pytest.raises(KeyboardInterrupt) as caught, interruptible():
        raise KeyboardInterrupt
    assert not isinstance(caught.value, Interrupted)


def test_handlers_that_a_library_replaces_are_back() -> None:
    """``ray.init`` puts a handler of its own in the place of ours."""
    with pytest.raises(Interrupted) as caught, interruptible():
        with handlers_kept():
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.raise_signal(signal.SIGTERM)
    assert caught.value.status == 128 + signal.SIGTERM
