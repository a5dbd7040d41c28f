"""What listeners keep with a unit."""

from __future__ import annotations

from dataclasses import dataclass, field

from tapelint.engine.analysis_unit import UnitNotes


@dataclass
class Seen:
    names: list[str] = field(default_factory=list)


@dataclass
class Counted:
    number: int = 0


def test_a_record_is_made_when_it_is_first_asked_for() -> None:
    assert UnitNotes().record(Counted) == Counted(0)


def test_a_record_stays_the_same_object() -> None:
    notes = UnitNotes()
    notes.record(Seen).names.append("loss")
    assert notes.record(Seen).names == ["loss"]


def test_records_of_different_classes_are_apart() -> None:
    notes = UnitNotes()
    notes.record(Counted).number = 3
    assert notes.record(Seen).names == [] and notes.record(Counted).number == 3
