"""Who uses what a file defines: text first, then the imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapelint.bounds import Bounds
from tapelint.workspace import Resolver, callers
from tapelint.workspace.callers import best_of_all, find_callers

HELPER = "class Net: ...\ndef step(): ...\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    write(tmp_path, "pkg/__init__.py", "from .helper import Net\n")
    write(tmp_path, "pkg/helper.py", HELPER)
    return tmp_path


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


def found(root: Path, name: str = "pkg/helper.py") -> list[tuple[str, list[str]]]:
    target = str(root / name)
    known = find_callers([target], Resolver([str(root)])).of.get(target, ())
    return [(str(Path(each.path).relative_to(root)), sorted(each.names)) for each in known]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("from pkg.helper import Net\nNet()\n", ["Net"]),
        ("from pkg.helper import Net as N, step\nN()\nstep()\n", ["N", "step"]),
        ("import pkg.helper\npkg.helper.step()\n", ["pkg"]),
        ("import pkg.helper as h\nh.step()\n", ["h"]),
        ("from pkg import helper\nhelper.step()\n", ["helper"]),
        ("from pkg.helper import *\nstep()\n", ["*"]),
        ("from pkg import Net\nNet()\n", ["Net"]),
        ("def f():\n    from pkg.helper import (\n        Net,\n    )\n    Net()\n", ["Net"]),
    ],
)
def test_ways_to_use_a_file(root: Path, text: str, names: list[str]) -> None:
    write(root, "train.py", text)
    assert found(root) == [("train.py", names)]


@pytest.mark.parametrize(
    "text",
    [
        "# from pkg.helper import Net\nNet()\n",
        "from other import Net\nNet()\n",
        "from pkg.other import step\nstep()\n",
        "from pkg import step\nstep()\n",
        "import pkg\n",
        "from pkg.helper import Net\n",
        "from pkg.helper import Net\nNet(\n",
    ],
)
def test_what_only_looks_like_it(root: Path, text: str) -> None:
    write(root, "pkg/other.py", "def step(): ...\n")
    write(root, "other.py", "class Net: ...\n")
    write(root, "train.py", text)
    assert found(root) == []


def test_scripts_come_first_then_tests_and_the_nearest_of_each(root: Path) -> None:
    use = "from pkg.helper import Net\nnet = Net\n"
    script = "from pkg.helper import Net\nif __name__ == '__main__':\n    Net()\n"
    write(root, "pkg/trainer.py", use)
    write(root, "tests/test_net.py", use)
    write(root, "examples/deep/run.py", script)
    write(root, "train.py", script)
    assert [name for name, _ in found(root)] == ["train.py", "examples/deep/run.py", "tests/test_net.py"]


def test_a_notebook_is_a_script(root: Path) -> None:
    book = '{"cells": [{"cell_type": "code", "source": ["from pkg import Net\\n", "Net()"]}], "nbformat": 4}'
    write(root, "look.ipynb", book)
    assert found(root) == [("look.ipynb", ["Net"])]


def test_texts_of_the_editor_count(root: Path) -> None:
    write(root, "train.py", "from pkg.helper import Net\nNet()\n")
    target, train = str(root / "pkg/helper.py"), str(root / "train.py")
    held = Resolver([str(root)], {train: "import torch\n"})
    assert not find_callers([target], held).of[target]
    held = Resolver([str(root)], {train: "from pkg.helper import step\nstep()\n"})
    assert [sorted(each.names) for each in find_callers([target], held).of[target]] == [["step"]]


def test_a_large_project_is_looked_at_in_part(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callers, "BOUNDS", Bounds(project_files=3))
    for number in range(9):
        write(root, f"train{number}.py", "from pkg.helper import Net\nNet()\n")
    assert find_callers([str(root / "pkg/helper.py")], Resolver([str(root)])).was_cut


def test_a_search_can_be_cancelled(root: Path) -> None:
    write(root, "train.py", "from pkg.helper import Net\nNet()\n")
    known = find_callers([str(root / "pkg/helper.py")], Resolver([str(root)]), cancel=lambda: True)
    assert not any(known.of.values())


def test_callers_of_several_files(root: Path) -> None:
    write(root, "pkg/loss.py", "def loss(): ...\n")
    write(root, "a.py", "from pkg.helper import Net\nNet()\n")
    write(root, "b.py", "from pkg.helper import step\nfrom pkg.loss import loss\nloss(step())\n")
    targets = [str(root / "pkg/helper.py"), str(root / "pkg/loss.py")]
    known = find_callers(targets, Resolver([str(root)]))
    best = best_of_all(known, targets, 9)
    assert {Path(path).name: (rank, sorted(names)) for path, (rank, names) in best.items()} == {
        "a.py": (0, ["Net"]),
        "b.py": (0, ["loss", "step"]),
    }
    assert [Path(path).name for path in best_of_all(known, [*targets, str(root / "a.py")], 1)] == ["b.py"]


def test_what_was_read_is_read_again_when_it_has_changed(root: Path) -> None:
    write(root, "train.py", "from pkg.helper import Net\nNet()\n")
    assert found(root) == [("train.py", ["Net"])]
    write(root, "train.py", "import math\n")
    assert found(root) == []
    write(root, "train.py", "from pkg.helper import step\nstep()\n")
    assert found(root) == [("train.py", ["step"])]
