"""Which rules ``--fix`` may fix, and what is said of what it has fixed: the options and settings of ruff."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from plain import Tapelint

from tapelint.report.topics import names_by_code

WRITTEN = """\
import torch

y = torch.ones(3, requires_grad=True).exp()
y += 1
y.sum().backward()
"""
LEAF = """\
import torch

w = torch.ones(3, requires_grad=True)
w.mul_(2)
"""
NAMES = names_by_code()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """One finding of TL201 and one of TL203; each has a safe fix."""
    (tmp_path / "a.py").write_text(WRITTEN)
    (tmp_path / "b.py").write_text(LEAF)
    return tmp_path


def _fixed(project: Path) -> set[str]:
    """The codes whose findings were fixed; the files are made what they were."""
    before = {"a.py": ("TL201", WRITTEN), "b.py": ("TL203", LEAF)}
    found = {code for name, (code, text) in before.items() if (project / name).read_text() != text}
    for name, (_, text) in before.items():
        (project / name).write_text(text)
    return found


@pytest.mark.parametrize(
    ("options", "settings", "fixed"),
    [
        ((), "", {"TL201", "TL203"}),
        (("--fixable", "TL201"), "", {"TL201"}),
        (("--fixable", "TL1,TL203"), "", {"TL203"}),
        (("--unfixable", "TL2"), "", set()),
        (("--unfixable", "TL2", "--extend-fixable", "TL203"), "", {"TL203"}),
        (("--unfixable", "ALL"), "", set()),
        (("--fixable", "TL2", "--unfixable", "TL201"), "", {"TL203"}),
        (("--fixable", "TL201", "--unfixable", "TL201"), "", set()),
        ((), 'unfixable = ["TL203"]', {"TL201"}),
        ((), "fixable = []", set()),
        ((), 'fixable = []\nextend-fixable = ["TL201"]', {"TL201"}),
        (("--unfixable", "TL201"), 'unfixable = ["TL203"]', {"TL203"}),
        (("--extend-fixable", "TL201"), 'fixable = ["TL203"]', {"TL201", "TL203"}),
    ],
)
def test_only_what_is_fixable_is_fixed(
    project: Path, tapelint: Tapelint, options: tuple[str, ...], settings: str, fixed: set[str]
) -> None:
    (project / "tapelint.toml").write_text(settings)
    tapelint("check", "--fix", *options)
    assert _fixed(project) == fixed


def test_of_what_is_not_fixable_no_fix_is_offered(project: Path, tapelint: Tapelint) -> None:
    found = json.loads(tapelint("check", "--unfixable", "TL201", "--output-format", "json").stdout)
    assert {each["code"]: bool(each["fixes"]) for each in found} == {"TL201": False, "TL203": True}
    assert tapelint("check", "--diff", "--unfixable", "TL2").stdout == ""
    counted = json.loads(tapelint("check", "--unfixable", "TL203", "--statistics", "--output-format", "json").stdout)
    assert {each["code"]: each["fixable"] for each in counted} == {"TL201": True, "TL203": False}


def test_fixes_are_listed_by_file_and_rule(project: Path, tapelint: Tapelint) -> None:
    (project / "a.py").write_text(WRITTEN + WRITTEN.replace("y", "z"))
    listed = (
        f"Fixed 3 findings:\n- a.py:\n    2 × TL201 ({NAMES['TL201']})\n- b.py:\n    1 × TL203 ({NAMES['TL203']})\n"
    )
    done = tapelint("check", "--fix", "--show-fixes")
    assert done.stdout == f"\n{listed}\nFixed 3 findings. Nothing left in 2 files.\n"
    assert tapelint("check", "--fix", "--show-fixes").stdout == "Nothing found in 2 files.\n"
    _fixed(project)
    assert "- b.py:" in tapelint("check", "--fix", "--show-fixes", "--output-format", "grouped").stdout
    _fixed(project)
    assert tapelint("check", "--fix", "--show-fixes", "--output-format", "json").stdout == "[]\n"
    assert tapelint("check", "--diff", "--show-fixes").returncode == 2


def test_more_is_ignored_in_files_than_the_configuration_says(project: Path, tapelint: Tapelint) -> None:
    (project / "tapelint.toml").write_text('per-file-ignores = {"a.py" = ["TL2"]}')
    assert tapelint("check", "--extend-per-file-ignores", "b.py:TL203").returncode == 0
    assert tapelint("check", "--per-file-ignores", "b.py:TL203").returncode == 1
    (project / "base.toml").write_text('extend-per-file-ignores = {"a.py" = ["TL2"]}')
    (project / "tapelint.toml").write_text('extend = "base.toml"\nextend-per-file-ignores = {"b.py" = ["TL2"]}')
    assert tapelint("check").returncode == 0


def test_what_unknown_code_returned_is_detached_only_if_the_user_asks(tapelint, tmp_path: Path) -> None:
    """It may be a tuple, as an LSTM returns, which has no `detach()`."""
    text = (
        "import torch\nfrom elsewhere import make\n\nnet, state = make(), None\n"
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for x in range(10):\n    out, state = net(torch.randn(3), state)\n    out.sum().backward()\n"
    )
    (tmp_path / "train.py").write_text(text)
    assert "TL102" in tapelint("check", "--fix", "--output-format", "concise", "train.py").stdout
    assert (tmp_path / "train.py").read_text() == text
    tapelint("check", "--fix", "--unsafe-fixes", "train.py")
    assert "state = state.detach()" in (tmp_path / "train.py").read_text()
