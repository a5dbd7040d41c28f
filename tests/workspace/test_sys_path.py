"""What a file adds to ``sys.path`` is followed, and nothing is executed for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tapelint.workspace import Resolver
from tapelint.workspace.search_path import added_folders

COMMON = "project/common/deep"
IDIOMS = [
    'sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "common", "deep"))',
    'sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "common", "deep"))',
    'sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + "/common/deep")',
    'sys.path.append(str(Path(__file__).resolve().parents[1] / "common" / "deep"))',
    'sys.path.append(str(Path(__file__).parent.parent.joinpath("common", "deep").absolute()))',
    'sys.path.append(os.fspath(pathlib.Path(__file__).resolve().parent / ".." / "common/deep"))',
    'sys.path.append(Path(__file__).parents[1].as_posix() + "/common/deep")',
    'sys.path.append(f"{os.path.dirname(__file__)}/../common/deep")',
    'sys.path += [os.path.join(os.path.dirname(__file__), "../common/deep"), "elsewhere"]',
    'sys.path.extend([os.path.join(os.path.dirname(__file__), os.pardir, "common", "deep")])',
    'sys.path[0:0] = [os.path.join(os.path.dirname(__file__), "../common/deep")]',
    'sys.path = [os.path.join(os.path.dirname(__file__), "../common/deep")] + sys.path',
    'site.addsitedir(os.path.join(os.path.dirname(__file__), "../common/deep"))',
    'ROOT = Path(__file__).resolve().parents[1]\nDEEP = ROOT / "common"\nsys.path.append(str(DEEP / "deep"))',
    'if FLAG:\n    sys.path.append(os.path.join(os.path.dirname(__file__), "../common/deep"))',
    'sys.path.append(os.path.join(os.path.dirname(__file__), "../common/deep") if len("x") else "y")',
    'import os.path as osp\nsys.path.append(osp.join(osp.dirname(osp.abspath(__file__)), "..", "common", "deep"))',
    'from os.path import dirname as up, join\nsys.path.append(join(up(up(__file__)), "common", "deep"))',
    'from os import pardir, path\nsys.path.append(path.join(path.dirname(__file__), pardir, "common", "deep"))',
    'from sys import path as places\nplaces.append(os.path.join(os.path.dirname(__file__), "../common/deep"))',
    'import pathlib as pl\nsys.path.append(str(pl.Path(__file__).parents[1] / "common/deep"))',
    "def add(first, path):\n    if path not in sys.path:\n        sys.path.insert(0, path)\n\n"
    'add("a", "b")\nadd("c", os.path.join(os.path.dirname(__file__), "../common/deep"))',
]


def _text(idiom: str) -> str:
    return f"import os, pathlib, site, sys\nfrom pathlib import Path\nFLAG = True\n{idiom}\nimport metrics\n"


@pytest.mark.parametrize("idiom", IDIOMS)
def test_python_searches_the_same_folder(idiom: str, tmp_path: Path) -> None:
    """Python itself imports ``metrics`` from the folder that is found here."""
    deep = tmp_path / COMMON
    deep.mkdir(parents=True)
    (deep / "metrics.py").write_text("print(__file__)\n")
    script = tmp_path / "project" / "tools" / "run.py"
    script.parent.mkdir()
    script.write_text(_text(idiom))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()).resolve() == (deep / "metrics.py").resolve()
    found = Resolver([str(tmp_path)])("metrics", str(script))
    assert found is not None and Path(found[0]) == deep / "metrics.py"


@pytest.mark.parametrize(
    "idiom",
    [
        'sys.path.append(os.environ["EXTRA"])',
        "sys.path.append(sys.argv[1])",
        'sys.path.append(os.path.join(find(), "common/deep"))',
        'def join(*parts):\n    return parts[0]\nsys.path.append(join("common", "deep"))',
        "path = []\npath.append(os.path.dirname(__file__))",
        'str = reversed\nsys.path.append(str("common"))',
        'HERE = "a"\nHERE = "b"\nsys.path.append(HERE)',
        "sys.path.append(ROOT)\nROOT = ROOT",
        "sys.path.append(str(Path(__file__).parents[99]))",
        "sys.path.append(Path(__file__).parents[-1:])",
        "sys.path.append()",
        "sys.path.append(os.path.join())",
        "def add(path):\n    sys.path.append(path)\nadd()\nadd(os.getenv('EXTRA'))",
        "def add(path):\n    print(path)\n    sys.path.append(os.getenv('EXTRA'))\nadd('common')",
        "sys.path.append(",
    ],
)
def test_what_is_not_known_is_left_out(idiom: str) -> None:
    assert added_folders("/project/tools/run.py", _text(idiom)) == ()


def test_a_module_that_is_imported_for_it(tmp_path: Path) -> None:
    """``import _paths``, of which nothing else is used; Python finds the same module."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "metrics.py").write_text("print(__file__)\n")
    tools = tmp_path / "tools"
    tools.mkdir()
    adding = (
        'def add(path):\n    sys.path.insert(0, path)\n\nadd(os.path.join(os.path.dirname(__file__), "..", "lib"))\n'
    )
    (tools / "_paths.py").write_text(f"import os, sys\n{adding}")
    (tools / "plain.py").write_text("x = 1\n")
    script, without = tools / "run.py", tools / "without.py"
    script.write_text("import sys\nimport _paths  # for lib\nimport metrics\n")
    without.write_text("import plain\nfrom os import path as _paths\nimport metrics\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()).resolve() == (tmp_path / "lib" / "metrics.py").resolve()
    resolver = Resolver()
    found = resolver("metrics", str(script))
    assert found is not None and found[0] == str(tmp_path / "lib" / "metrics.py")
    assert resolver.adds(str(script)) and not resolver.adds(str(without))
    assert resolver("metrics", str(without)) is None
    (tools / "_paths.py").write_text("import os\n")
    assert not resolver.adds(str(script)) and resolver("metrics", str(script)) is None


def test_a_relative_folder_is_looked_for_upward(tmp_path: Path) -> None:
    """``sys.path.append("common/deep")`` of a script that is started in the root of its project."""
    (tmp_path / ".git").mkdir()
    deep = tmp_path / "common" / "deep"
    deep.mkdir(parents=True)
    (deep / "metrics.py").write_text("")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "run.py").write_text('import sys\nsys.path.append("common/deep")\nimport metrics\n')
    found = Resolver()("metrics", str(tmp_path / "tools" / "run.py"))
    assert found is not None and found[0] == str(deep / "metrics.py")
    (tmp_path / "tools" / "run.py").write_text("import metrics\n")
    assert Resolver()("metrics", str(tmp_path / "tools" / "run.py")) is None
