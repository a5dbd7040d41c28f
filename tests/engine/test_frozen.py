"""Records of ``frozen.py`` are what frozen dataclasses are: compared, hashed, shown, replaced and matched by fields."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, fields, replace
from typing import Any

import pytest

from tapelint.frozen import frozen


@frozen
class Point:
    x: float
    y: float = 0.0
    note: str = field(default="", compare=False)


@frozen
class Named(Point):
    name: str = ""


@frozen
class Single:
    only: object


@frozen
class Empty:
    pass


@frozen(eq=False)
class Identity:
    x: int


@frozen
class OwnHash:
    x: int

    def __hash__(self) -> int:
        return 7


@frozen(kw_only=True)
class Made(Point):
    """All that a field may be."""

    made: list[int] = field(default_factory=list)
    needed: str
    own: int = field(init=False)
    usual: int = field(init=False, default=5)

    def __post_init__(self) -> None:
        object.__setattr__(self, "own", len(self.needed))


@dataclass(frozen=True)
class Reference:
    x: float
    y: float = 0.0
    note: str = field(default="", compare=False)


NOT_A_NUMBER = float("nan")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((1, 2), (1, 2)),
        ((1, 2), (1, 3)),
        ((1, 2, "a"), (1, 2, "b")),
        ((NOT_A_NUMBER,), (NOT_A_NUMBER,)),
        ((1,), (1.0,)),
    ],
)
def test_two_records_are_equal_if_dataclasses_with_these_fields_are(
    one: tuple[Any, ...], other: tuple[Any, ...]
) -> None:
    expected = Reference(*one) == Reference(*other)
    assert (Point(*one) == Point(*other)) is expected
    if expected:
        assert hash(Point(*one)) == hash(Point(*other))


def test_records_of_different_classes_are_not_equal() -> None:
    others: list[object] = [Named(1, 2), (1, 2), Single((1, 2))]
    assert all(Point(1, 2) != other for other in others)


def test_the_fields_of_a_derived_record_count() -> None:
    assert Named(1, 2, name="a") == Named(1, 2, name="a")
    assert Named(1, 2, name="a") != Named(1, 2, name="b")


def test_records_of_one_field_or_none_are_compared_and_hashed() -> None:
    assert {Single(()): 1, Empty(): 2} == {Single(()): 1, Empty(): 2}
    assert Single(1) != Single(2)


def test_without_eq_identity_is_equality() -> None:
    one = Identity(1)
    assert one == one
    assert one != Identity(1)
    assert len({one, Identity(1)}) == 2


def test_a_record_is_made_as_a_dataclass_is() -> None:
    for _ in range(2):  # the first object of a class is made in another way than the others
        one, other = Made(1, needed="ab"), Made(1, 0.0, "n", needed="ab", made=[3])
        assert (one.x, one.y, one.note, one.made, one.needed, one.own, one.usual) == (1, 0.0, "", [], "ab", 2, 5)
        assert one.made is not Made(1, needed="ab").made and (other.note, other.made) == ("n", [3])
    for wrong in (lambda: Made(1), lambda: Made(1, 2, "n", "ab"), lambda: Single(), lambda: Empty(1)):
        with pytest.raises(TypeError, match=r"__init__\(\)"):
            wrong()


def test_users_have_records_of_plain_assignments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["tapelint.frozen"], "FORBID", False)

    @frozen
    class Pair:
        x: int
        more: list[int] = field(default_factory=list)

    for _ in range(2):
        assert (Pair(1).x, Pair(1).more, Pair(2, [3]), repr(Pair(2))) == (
            1,
            [],
            Pair(2, [3]),
            f"{Pair.__qualname__}(x=2, more=[])",
        )
    pair = Pair(1)
    pair.x = 2  # type: ignore[misc]
    assert pair == Pair(2)


def test_what_a_class_defines_itself_stays() -> None:
    assert hash(OwnHash(1)) == 7
    assert OwnHash(1) == OwnHash(1)


def test_dataclasses_know_records() -> None:
    assert [each.name for each in fields(Named)] == ["x", "y", "note", "name"]
    assert replace(Point(1, 2), y=3) == Point(1, 3)
    assert repr(Named(1, 2, name="a")) == "Named(x=1, y=2, note='', name='a')"
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)
