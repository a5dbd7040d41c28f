"""The nearest configuration file counts; messages about mistakes in it name the valid values."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import tapelint.report.topics
import tapelint.rules
from tapelint import __version__
from tapelint.severity import Severity
from tapelint.workspace import Config, ConfigError, discover, find, forget, from_table, load
from tapelint.workspace.files import EXCLUDED
from tapelint.workspace.globs import Patterns

ERROR, WARNING, INFORMATION, HINT = Severity


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    names = {"TL101": "freed", "TL102": "kept-alive", "TL201": "modified"}
    rules = [SimpleNamespace(code=code, name=name) for code, name in names.items()]
    monkeypatch.setattr(tapelint.report.topics, "all_rules", lambda: rules, raising=False)
    monkeypatch.setattr(tapelint.report.topics, "all_topics", tuple)
    forget()
    yield
    forget()


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        (Config(), {"TL101", "TL102", "TL201"}),
        (Config(select=("TL1",)), {"TL101", "TL102"}),
        (Config(ignore=("TL1",)), {"TL201"}),
        (Config(select=("TL",), ignore=("TL102",)), {"TL101", "TL201"}),
        (Config(select=("TL101",), ignore=("TL",)), {"TL101"}),
        (Config(select=("TL1",), ignore=("TL1",)), set()),
    ],
)
def test_selection_of_rules(config: Config, wanted: set[str]) -> None:
    assert {code for code in ("TL101", "TL102", "TL201") if config.wants(code)} == wanted


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        (Config(), {"TL101"}),
        (Config(select=("TL207",)), {"TL207"}),
        (Config(select=("TL2",)), {"TL207"}),
        (Config(extend_select=("TL207",)), {"TL101", "TL207"}),
        (Config(select=("TL1",), extend_select=("TL2",)), {"TL101", "TL207"}),
        (Config(extend_select=("TL207",), ignore=("TL2",)), {"TL101", "TL207"}),
        (Config(extend_select=("TL2",), ignore=("TL207",)), {"TL101"}),
    ],
)
def test_a_rule_that_is_off_by_default_is_selected(config: Config, wanted: set[str]) -> None:
    assert {code for code in ("TL101", "TL207") if config.wants(code, default=code != "TL207")} == wanted


def test_extend_select(tmp_path: Path) -> None:
    (tmp_path / "tapelint.toml").write_text('extend-select = ["TL201"]\nselect = ["ALL"]\n')
    assert load(tmp_path) == Config(select=("TL",), extend_select=("TL201",), root=str(tmp_path))


def test_nearest_file_counts(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.tapelint]\nignore = ["TL1"]\n')
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert load(inner / "train.py") == Config(ignore=("TL1",), root=str(tmp_path))
    assert find(inner) == tmp_path / "pyproject.toml"
    (inner / "pyproject.toml").write_text('[tool.tapelint]\nselect = ["TL2"]\n')
    (inner / "tapelint.toml").write_text('select = ["tl101"]\n')
    forget()
    assert load(inner / "train.py") == Config(select=("TL101",), root=str(inner))
    assert load(tmp_path / "a" / "x.py") == Config(ignore=("TL1",), root=str(tmp_path))


def test_no_file() -> None:
    assert load(Path("/")) == Config()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.tapelint]\nselct = []\n", "pyproject.toml:2: unknown key 'selct'; did you mean 'select'?"),
        ("[tool.tapelint]\nrules = []\n", "pyproject.toml:2: unknown key 'rules'; the keys are select, extend-select,"),
        ('[tool.other]\nselect=1\n[tool.tapelint]\nselect = "TL1"\n', ":4: select must be a list of codes, as in"),
        (
            '[tool.tapelint]\nselect = ["TL9"]\n',
            ":2: select: no rule has the code 'TL9'; `tapelint rule` lists the codes",
        ),
        ('[tool.tapelint]\nselect = [\n  "TL1",\n  "TL109",\n]\n', ":4: select: no rule has the code 'TL109'; did you"),
        ('[tool.tapelint]\nignore = ["kept-alive"]\n', "'kept-alive'; did you mean 'TL102'?"),
        ("[tool.tapelint]\nselect = [1]\n", "no rule has the code 1"),
        ('[tool.tapelint]\nseverities = ["TL1"]\n', ":2: severities must be a table of codes, as in"),
        (
            '[tool.tapelint.severities]\nTL101 = "warn"\n',
            ":2: severities: TL101 cannot be 'warn'; did you mean 'warning'?",
        ),
        ('[tool.tapelint.severities]\nTL901 = "off"\n', ":2: severities: no rule has the code 'TL901'"),
        ('[tool.tapelint]\nper-file-ignores = "x"\n', ":2: per-file-ignores must be a table of patterns, as in"),
        ('[tool.tapelint.per-file-ignores]\n"a.py" = ["X1"]\n', ":2: per-file-ignores of 'a.py': no rule has the code"),
        ("[tool.tapelint]\nexclude = [3]\n", ":2: exclude must be a list of patterns, as in"),
        ('[tool.tapelint]\nrequired-version = "new"\n', ":2: required-version must be a version specifier, as in"),
        ("[tool.tapelint]\nrequired-version = 3\n", ":2: required-version must be a version specifier, as in"),
        (
            '[tool.tapelint]\nunheard-of = 1\nrequired-version = "99"\n',
            f":3: required version `==99` does not match the running version `{__version__}`",
        ),
        ("[tool]\ntapelint = 1\n", "must be a table"),
        ("[tool.tapelint\n", "not valid TOML"),
    ],
)
def test_invalid_configuration_is_reported(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(ConfigError) as error:
        load(tmp_path)
    assert message in str(error.value)
    assert str(tmp_path) in str(error.value)


@pytest.mark.parametrize(
    ("severities", "grades"),
    [
        ({}, (ERROR, ERROR, ERROR)),
        ({"TL1": "hint"}, (HINT, HINT, ERROR)),
        ({"tl1": "off", "TL102": "warning"}, (None, WARNING, ERROR)),
        ({"ALL": "information", "TL2": "off"}, (INFORMATION, INFORMATION, None)),
    ],
)
def test_severities(severities: dict[str, str], grades: tuple[Severity | None, ...]) -> None:
    config = from_table({"severities": severities}, "settings")
    assert tuple(config.grade(code, ERROR, "a.py") for code in ("TL101", "TL102", "TL201")) == grades


def test_per_file_ignores(tmp_path: Path) -> None:
    (tmp_path / "tapelint.toml").write_text('per-file-ignores = { "tests/*" = ["TL1"], "notebook_*.py" = ["ALL"] }\n')
    config = load(tmp_path)

    def silent(path: str) -> list[str]:
        return [c for c in ("TL101", "TL201") if config.grade(c, ERROR, str(tmp_path / path)) is None]

    assert silent("tests/deep/a.py") == silent("tests/a.py") == ["TL101"]
    assert silent("sub/notebook_1.py") == ["TL101", "TL201"]
    assert silent("src/tests/a.py") == silent("a.py") == []
    assert replace(config, select=("TL101",)).grade("TL101", ERROR, str(tmp_path / "tests" / "a.py")) is None


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("build", ("build", "build/a.py", "src/build/b/c.py"), ("builds/a.py", "rebuild.py")),
        ("*.gen.py", ("a.gen.py", "x/a.gen.py"), ("agen.py",)),
        ("src/*.py", ("src/a.py",), ("src/a/b.py", "x/src/a.py")),
        ("src/**/old", ("src/old/a.py", "src/a/b/old/c.py"), ("old/a.py",)),
        ("**/old", ("old", "a/old/b.py"), ("older",)),
        ("./a/", ("a/b.py",), ("ba/b.py",)),
        ("m[0-9].py", ("m1.py",), ("mx.py",)),
        ("m[!0-9].py", ("mx.py",), ("m1.py",)),
        ("c++?.py", ("c++x.py",), ("ccx.py",)),
    ],
)
def test_patterns(pattern: str, matching: tuple[str, ...], others: tuple[str, ...]) -> None:
    patterns = Patterns((pattern,), "/root")
    assert all(patterns.matches(f"/root/{path}") for path in matching)
    assert not any(patterns.matches(f"/root/{path}") for path in others)
    assert not patterns.matches(f"/elsewhere/{matching[0]}")


def test_the_last_pattern_decides() -> None:
    patterns = Patterns(("gen/*", "!gen/kept.py", "/root/abs"), "/root")
    assert [patterns.matches(f"/root/{path}") for path in ("gen/a.py", "gen/kept.py", "abs/a.py")] == [
        True,
        False,
        True,
    ]


@pytest.mark.parametrize(
    "pattern", ["{a,b}.py", "../x", "src/../x", "[z-a]", "[!]", "#x", "/usr", "", ".", "./", "!a.py"]
)
def test_patterns_that_match_nothing_are_refused(pattern: str) -> None:
    with pytest.raises(ConfigError, match=f"exclude: {re.escape(repr(pattern))} is no pattern"):
        from_table({"exclude": [pattern]}, "settings", root="/root")


def test_exclude(tmp_path: Path) -> None:
    for name in ("a.py", "gen/b.py", "src/c_pb2.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "tapelint.toml").write_text('exclude = ["gen", "*_pb2.py"]\n')

    def left(path: Path) -> list[str]:
        found = discover(str(path), lambda found: load(Path(found)).excludes(found))
        return [os.path.relpath(file, tmp_path) for file in found]

    assert left(tmp_path) == ["a.py"]
    assert left(tmp_path / "src" / "c_pb2.py") == ["src/c_pb2.py"]


def test_what_is_excluded_without_a_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = load(tmp_path)
    assert all(config.excludes(f"{name}/a.py") and config.excludes(str(tmp_path / "b" / name)) for name in EXCLUDED)
    assert not config.excludes("a.py") and not config.excludes("../venv/a.py")
    (tmp_path / "tapelint.toml").write_text('extend-exclude = ["gen"]\n')
    forget()
    assert [load(tmp_path).excludes(path) for path in ("dist/a.py", "gen/a.py")] == [True, True]
    (tmp_path / "tapelint.toml").write_text('exclude = ["gen"]\n')
    forget()
    assert [load(tmp_path).excludes(path) for path in ("dist/a.py", "gen/a.py")] == [False, True]


def test_ignores_of_all_other_files(tmp_path: Path) -> None:
    (tmp_path / "tapelint.toml").write_text('per-file-ignores = { "!src/*" = ["TL1"] }\n')
    config = load(tmp_path)
    assert config.grade("TL101", ERROR, str(tmp_path / "src" / "a.py")) is ERROR
    assert config.grade("TL101", ERROR, str(tmp_path / "a.py")) is None


def test_a_configuration_extends_another(tmp_path: Path) -> None:
    """What a file says counts; ``extend-...`` are added up; patterns stay below the folder of their file."""
    (tmp_path / "sub").mkdir()
    base = 'select = ["TL1"]\nignore = ["TL102"]\nextend-select = ["TL201"]\nextend-exclude = ["old/*.py"]\n'
    (tmp_path / "base.toml").write_text(base)
    own = 'extend = "../base.toml"\nignore = []\nextend-select = ["TL2"]\n'
    (tmp_path / "sub" / "tapelint.toml").write_text(own)
    config = load(tmp_path / "sub" / "a.py")
    assert (config.select, config.ignore, config.extend_select) == (("TL1",), (), ("TL201", "TL2"))
    assert config.excludes(str(tmp_path / "old" / "a.py")) and not config.excludes(
        str(tmp_path / "sub" / "old" / "a.py")
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [("extend = 'none.toml'", ":1: extend: there is no file"), ("extend = 'tapelint.toml'", "extends this file")],
)
def test_what_cannot_be_extended(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "tapelint.toml").write_text(text + "\n")
    with pytest.raises(ConfigError, match=message):
        load(tmp_path)


def test_settings_of_an_editor() -> None:
    assert from_table({"select": ["TL1"], "ignore": []}, "settings") == Config(select=("TL1",))


def test_discover(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("b.py", "a.py", "a.txt", "pkg/z.py", ".git/h.py", "env/lib/x.py", "node_modules/y.py", ".ci/c.py"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    (tmp_path / "env" / "pyvenv.cfg").touch()
    found = [os.path.relpath(path, tmp_path) for path in discover(str(tmp_path))]
    assert found == ["a.py", "b.py", ".ci/c.py", "pkg/z.py"]
    assert list(discover(str(tmp_path / "a.txt"))) == [str(tmp_path / "a.txt")]
    monkeypatch.chdir(tmp_path)
    assert [*discover(".")] == found == [*discover("./")]
