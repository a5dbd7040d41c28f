"""The nearest configuration file counts; what is wrong in it is said with what would be right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

import tapelint.rules
from tapelint.workspace import Config, ConfigError, discover, find, forget, from_table, load


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    rules = [SimpleNamespace(code=code) for code in ("TL101", "TL102", "TL201")]
    monkeypatch.setattr(tapelint.rules, "all_rules", lambda: rules, raising=False)
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
def test_wants(config: Config, wanted: set[str]) -> None:
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
    assert load(tmp_path) == Config(select=("TL",), extend_select=("TL201",))


def test_nearest_file_counts(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.tapelint]\nignore = ["TL1"]\n')
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert load(inner / "train.py") == Config(ignore=("TL1",))
    assert find(inner) == tmp_path / "pyproject.toml"
    (inner / "pyproject.toml").write_text('[tool.tapelint]\nselect = ["TL2"]\n')
    (inner / "tapelint.toml").write_text('select = ["tl101"]\n')
    forget()
    assert load(inner / "train.py") == Config(select=("TL101",))
    assert load(tmp_path / "a" / "x.py") == Config(ignore=("TL1",))


def test_no_file() -> None:
    assert load(Path("/")) == Config()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.tapelint]\nselct = []\n", "pyproject.toml: unknown key 'selct'; the keys are select"),
        ('[tool.tapelint]\nselect = "TL1"\n', "must be a list of codes"),
        ('[tool.tapelint]\nselect = ["TL9"]\n', "no rule has the code 'TL9'; the codes are TL101, TL102, TL201"),
        ("[tool.tapelint]\nselect = [1]\n", "no rule has the code 1"),
        ("[tool]\ntapelint = 1\n", "must be a table"),
        ("[tool.tapelint\n", "not valid TOML"),
    ],
)
def test_complaints(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(ConfigError) as error:
        load(tmp_path)
    assert message in str(error.value)
    assert str(tmp_path) in str(error.value)


def test_settings_of_an_editor() -> None:
    assert from_table({"select": ["TL1"], "ignore": []}, "settings") == Config(select=("TL1",))


def test_discover(tmp_path: Path) -> None:
    for name in ("b.py", "a.py", "a.txt", "pkg/z.py", ".git/h.py", "env/lib/x.py", "node_modules/y.py", ".hidden.py"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    (tmp_path / "env" / "pyvenv.cfg").touch()
    found = [str(path.relative_to(tmp_path)) for path in discover(tmp_path)]
    assert found == ["a.py", "b.py", "pkg/z.py"]
    assert list(discover(tmp_path / "a.txt")) == [tmp_path / "a.txt"]
