"""Tests on options: what they give by default, and on a path that supposes that one of them is not left at it."""

from __future__ import annotations

from tapelint.domain.options import Option
from tapelint.domain.values import Const
from tapelint.engine.paths.defaults import by_default, supposing

MODE = Option(Const("plain"), "mode is given")
SIDE = Option(Const("left"), "side is given", (Const("right"),))


def equals(option: Option, value: str) -> tuple[object, ...]:
    return ("Eq", option, Const(value))


def test_by_default_an_option_is_its_default():
    assert by_default(equals(MODE, "plain")) is True
    assert by_default(equals(MODE, "other")) is False


def test_an_option_that_is_not_left_at_its_default_may_be_anything():
    assert supposing(MODE.changed, equals(MODE, "other")) is None


def test_an_option_with_one_other_value_has_that_value():
    assert supposing(SIDE.changed, equals(SIDE, "right")) is True
    assert supposing(SIDE.changed, equals(SIDE, "left")) is False


def test_other_options_have_their_defaults():
    assert supposing(SIDE.changed, equals(MODE, "plain")) is True
    assert supposing(SIDE.changed, ("And", equals(MODE, "other"), equals(SIDE, "right"))) is False
