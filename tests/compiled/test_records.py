"""A record that is rewritten for mypyc behaves as the dataclass that it was."""

from __future__ import annotations

import ast
import sys
from dataclasses import fields, replace
from types import ModuleType
from typing import Any

import pytest
from tools.compiled import native_records
from tools.compiled.records import Records

SOURCE = '''
from __future__ import annotations

from dataclasses import dataclass, field, replace
from tapelint.frozen import frozen


@frozen
class Point:
    """A point."""

    x: int
    # How it is called.
    name: str = field(default="p", compare=False, repr=False)

    def moved(self) -> Point:
        return replace(self, x=self.x + 1)


@frozen(eq=False, kw_only=True)
class Event:
    point: Point


@frozen
class Far(Point):
    beyond: tuple[int, ...] = (
        1,
        2,
    )
    size: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", len(self.beyond))


@dataclass(slots=True)
class Box:
    items: list[int] = field(default_factory=list)
'''


@pytest.fixture(params=["dataclass", "rewritten"])
def made(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    text = SOURCE
    if request.param == "rewritten":
        monkeypatch.setitem(sys.modules, "package.native_records", native_records)
        monkeypatch.setitem(sys.modules, "package", ModuleType("package"))
        records = Records()
        records.add("made.py", ast.parse(text))
        text = records.rewritten("made.py", text)
        assert "@" not in text
    module = ModuleType("package.made")
    monkeypatch.setitem(sys.modules, "package.made", module)
    exec(compile(text, "made.py", "exec"), module.__dict__)
    return module


def test_what_is_compared(made: Any) -> None:
    assert made.Point(1) == made.Point(1, "q") != made.Point(2)
    assert hash(made.Point(1)) == hash(made.Point(1, "q"))
    assert made.Far(1) != made.Point(1)
    assert made.Event(point=made.Point(1)) != made.Event(point=made.Point(1))


def test_what_is_not_a_number_equals_itself(made: Any) -> None:
    nan = float("nan")
    assert made.Point(nan) == made.Point(nan)


def test_replace(made: Any) -> None:
    assert replace(made.Far(1, "q", (5,)), x=3).name == "q"
    assert replace(made.Far(1), beyond=(5,)).size == 1
    assert made.Point(1).moved().x == 2


def test_what_is_shown(made: Any) -> None:
    assert repr(made.Point(1)) == "Point(x=1)"
    assert repr(made.Far(1)) == "Far(x=1, beyond=(1, 2), size=2)"
    assert [each.name for each in fields(made.Far)] == ["x", "name", "beyond", "size"]


def test_patterns(made: Any) -> None:
    match made.Far(1):
        case made.Point(x, name):
            assert (x, name) == (1, "p")
        case _:
            pytest.fail("not matched")
    assert made.Event.__match_args__ == ()


def test_each_has_a_list_of_its_own(made: Any) -> None:
    one, other = made.Box(), made.Box()
    one.items.append(1)
    assert other.items == [] and one != other
    with pytest.raises(TypeError):
        hash(one)


def test_what_has_to_be_said(made: Any) -> None:
    with pytest.raises(TypeError):
        made.Point()
    with pytest.raises(TypeError):
        made.Event(made.Point(1))


def test_a_default_that_another_file_knows_is_imported() -> None:
    """The constructor of a derived record repeats the defaults of its base."""
    base = "from dataclasses import dataclass\nNOTHING = ()\n@dataclass\nclass Base:\n    because: tuple = NOTHING\n"
    derived = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom .base import Base\n"
        "@dataclass\nclass Derived(Base):\n    count: int = len(())\n"
    )
    records = Records()
    records.add("model/base.py", ast.parse(base))
    records.add("model/derived.py", ast.parse(derived))
    assert "from ..model.base import NOTHING" in records.rewritten("model/derived.py", derived)
    assert "import NOTHING" not in records.rewritten("model/base.py", "from __future__ import annotations\n" + base)
