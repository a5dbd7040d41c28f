"""The one table of settings: its schema takes what the check takes, its examples are valid, and all of it is told."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from tools.docs.__main__ import SCHEMA
from tools.docs.__main__ import SETTINGS as PAGE
from tools.docs.settings import page, schema_text

from tapelint.cli.commands import tapelint
from tapelint.workspace import Config, ConfigError, from_table, keys
from tapelint.workspace.all_settings import SETTINGS, checked, schema
from tapelint.workspace.config import over
from tapelint.workspace.toml import read_toml

VALIDATOR = Draft7Validator(schema())

CODES = st.sampled_from(["ALL", "all", "TL1", "tl101", " TL4 ", "T", "TL", "TL9", "TL999", "X1", "", "TL10x", "E501"])
PATTERNS = st.sampled_from(
    ["build", "tests/*.py", "!keep.py", "../x", "a/../b", "{a,b}.py", r"\{a,b}.py", "{ab}.py", "", " ", "#x", r"\#x"]
    + ["!", "/", "// ", "! #", "!#", "a\\", "a\\\\", "a\\ ", "**", ".", "!!x", "x{1,2}y", " #x", "{,}", "...", "a/..b"]
) | st.text("a/*.#! {,}\\", max_size=5)
WORDS = st.sampled_from(["error", "warning", "information", "hint", "off", "warn", "", True])
OTHER = st.sampled_from([1, "x", "", True, [], {}, [1], {"a.py": 1}, 1.5])
VALUES = {
    "list[RuleSelector]": st.lists(CODES, max_size=2),
    "list[FilePattern]": st.lists(PATTERNS, max_size=2),
    "dict[FilePattern, list[RuleSelector]]": st.dictionaries(PATTERNS, st.lists(CODES, max_size=1), max_size=1),
    "bool": st.booleans(),
    "str": st.sampled_from(["../pyproject.toml", "", ">=0.1", "1.5", ">= 1, < 2", ">=", "1.5, 2", "~=1.5", "newest"]),
}
SEVERITIES = st.dictionaries(CODES, WORDS, max_size=2)


@pytest.fixture(autouse=True)
def a_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version that fits the specifiers here."""
    monkeypatch.setattr(keys, "__version__", "1.5")


def values(key: str) -> st.SearchStrategy[Any]:
    return VALUES.get(SETTINGS[key].kind.name, SEVERITIES) | OTHER


def takes(table: dict[str, Any]) -> bool:
    """Whether the check takes a table."""
    try:
        checked(table, lambda word: "", "/nowhere")
    except ConfigError:
        return False
    return True


def is_on_the_disk(table: object) -> bool:
    """Whether a pattern begins with the path of a folder that there is, as ``//`` does: that is outside any project."""
    match table:
        case str():
            return table.startswith("/") and os.path.isdir(table)
        case dict():
            return any(map(is_on_the_disk, [*table, *table.values()]))
        case list():
            return any(map(is_on_the_disk, table))
    return False


@pytest.mark.parametrize("key", SETTINGS)
def test_the_schema_takes_what_the_check_takes(key: str) -> None:
    @given(values(key))
    def agree(value: object) -> None:
        table = {key: value}
        if not is_on_the_disk(table):
            assert VALIDATOR.is_valid(table) == takes(table)

    agree()


def test_the_schema_knows_no_other_keys() -> None:
    assert not VALIDATOR.is_valid({"selct": []})
    assert VALIDATOR.is_valid({})


def test_the_schema_is_a_schema() -> None:
    Draft7Validator.check_schema(schema())


def test_what_is_generated_is_fresh() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == schema_text(), "run `python -m tools.docs`"
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tools.docs`"


@pytest.mark.parametrize("key", SETTINGS)
def test_examples_and_defaults_are_valid(key: str) -> None:
    setting = SETTINGS[key]
    for table in (read_toml(setting.example), default(key)):
        assert VALIDATOR.is_valid(table) and takes(table)
    assert key in read_toml(setting.example)


def default(key: str) -> dict[str, Any]:
    """The default as a table; an empty one where it is told in words."""
    text = SETTINGS[key].default
    return read_toml(f"{key} = {text}") if text[0] in "[{tf" and " " not in text[:4] else {}


@pytest.mark.parametrize("key", SETTINGS)
def test_the_default_is_what_holds_without_it(key: str) -> None:
    table = default(key)
    bare = Config()
    written = over(bare, checked(table, lambda word: ""))
    field = key.replace("-", "_")
    if key in ("exclude", "extend-exclude"):
        paths = ["a.py", ".venv/a.py", "dist/a.py", "x/node_modules/a.py", "src/a.py"]
        assert [bare.excludes(path) for path in paths] == [written.excludes(path) for path in paths]
    else:
        assert getattr(bare, field) == getattr(written, field)


def test_the_command_tells_every_setting(capsys: pytest.CaptureFixture[str]) -> None:
    tapelint.main(["config"], standalone_mode=False)
    assert capsys.readouterr().out.split() == list(SETTINGS)
    tapelint.main(["config", "callers"], standalone_mode=False)
    assert SETTINGS["callers"].doc in capsys.readouterr().out


def test_the_command_refuses_what_is_no_setting() -> None:
    with pytest.raises(click.ClickException, match=r"did you mean 'callers'\?"):
        tapelint.main(["config", "calers"], standalone_mode=False)


def test_pages_name_only_settings_that_there_are() -> None:
    """docs/configuration.md shows a whole configuration."""
    text = (PAGE.parent / "configuration.md").read_text(encoding="utf-8")
    shown = text.split("```toml\n")[1].split("```")[0]
    from_table(read_toml(shown)["tool"]["tapelint"], "docs/configuration.md")
    assert Path(PAGE).is_file()
