"""Installed libraries: which there are, and where a name of theirs is defined. Nothing of them is executed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tapelint.workspace.installed import Installed, environment, site_folders

SERVER = Path(__file__).resolve().parents[2] / "server"
HOSTILE = "import pathlib\npathlib.Path(__file__).with_suffix('.ran').touch()\nraise SystemExit('executed')\n"
LAZY = """from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from .losses.focal import FocalLoss
else:
    import importlib
    def __getattr__(name):
        return getattr(importlib.import_module(f"lossy.{PLACES[name]}"), name)
"""
FOCAL = "import torch\nclass FocalLoss(torch.nn.Module):\n    pass\n"

WATCHED = """
import sys
folder = sys.argv[1]
import jedi, parso, tempfile  # what they do when they are loaded is not the matter here
from tapelint.workspace.installed import Installed

def audit(event, args):
    if event in ("subprocess.Popen", "os.system", "os.exec", "socket.connect", "ctypes.dlopen", "os.fork"):
        raise AssertionError(event)
    if event == "exec" and folder in str(getattr(args[0], "co_filename", "")):
        raise AssertionError("executed " + args[0].co_filename)
    if event == "import" and args[1] and folder in str(args[1]):
        raise AssertionError("imported " + args[1])

sys.addaudithook(audit)
installed = Installed((folder,))
for name in ("FocalLoss", "renamed", "nowhere"):
    print(installed.definition("lossy", name))
print(installed.definition("hostile", "anything"))
"""


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """An environment with a package that requires PyTorch, one that requires that, and two that do not."""
    site = tmp_path / "env" / "lib" / "python3.12" / "site-packages"
    texts = {
        "lossy/__init__.py": LAZY + HOSTILE,
        "lossy/losses/__init__.py": HOSTILE,
        "lossy/losses/focal.py": FOCAL + HOSTILE,
        "lossy-1.0.dist-info/METADATA": "Name: lossy\nRequires-Dist: torch>=2\n",
        "lossy-1.0.dist-info/RECORD": "lossy/__init__.py,,\nlossy/losses/focal.py,,\n",
        "on_top.py": HOSTILE,
        "On_Top-1.0.dist-info/METADATA": "Name: On.Top\nRequires-Dist: Lossy (>=1)\n",
        "On_Top-1.0.dist-info/RECORD": "on_top.py,,\n",
        "hostile/__init__.py": HOSTILE,
        "hostile-1.0.dist-info/METADATA": 'Name: hostile\nRequires-Dist: torch; extra == "gpu"\n',
        "hostile-1.0.dist-info/RECORD": "hostile/__init__.py,,\n",
        **{f"{name}.py": HOSTILE for name in ("builtins", "sys", "os", "typing", "importlib", "sitecustomize")},
    }
    for name, text in texts.items():
        file = site / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "env"


def test_only_what_requires_pytorch_is_found(prefix: Path) -> None:
    installed = Installed(site_folders(str(prefix)))
    site = prefix / "lib" / "python3.12" / "site-packages"
    assert installed.find("lossy.losses.focal") == str(site / "lossy" / "losses" / "focal.py")
    assert installed.find("on_top") == str(site / "on_top.py")
    assert installed.find("hostile") is None  # it requires PyTorch where that is asked for only
    assert installed.find("lossy.nowhere") is None
    assert installed.find("os") is None


def test_the_environment_that_is_activated_comes_first(prefix: Path, tmp_path: Path) -> None:
    beside = tmp_path / "project" / ".venv" / "lib" / "python3.10" / "site-packages"
    beside.mkdir(parents=True)
    project, active = str(tmp_path / "project"), site_folders(str(prefix))
    assert environment(project, {"VIRTUAL_ENV": str(prefix)}) == active
    assert environment(project, {"CONDA_PREFIX": str(prefix)}) == active
    assert environment(project, {"VIRTUAL_ENV": str(tmp_path / "gone")}) == (str(beside),)
    assert environment(str(tmp_path), {}) == tuple(each for each in sys.path if each.endswith("site-packages"))


def test_an_interpreter_names_its_environment(prefix: Path) -> None:
    (prefix / "bin").mkdir()
    (prefix / "bin" / "python").touch()
    assert site_folders(str(prefix / "bin" / "python")) == site_folders(str(prefix))


def test_nothing_is_executed(prefix: Path) -> None:
    """jedi finds what a package exports lazily, and what it does not find it does not run either."""
    pytest.importorskip("jedi")
    (site,) = site_folders(str(prefix))
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, site],
        env={"PYTHONPATH": str(SERVER), "PATH": "", "HOME": str(prefix)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [str(Path(site, "lossy", "losses", "focal.py")), "None", "None", "None"]
    assert not list(prefix.rglob("*.ran"))
    assert not (prefix / ".cache").exists()


def test_a_fault_of_jedi_costs_one_name(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jedi = pytest.importorskip("jedi")

    def fail(*given: object, **named: object) -> None:
        raise ValueError("a fault")

    monkeypatch.setattr(jedi, "Script", fail)
    assert Installed(site_folders(str(prefix))).definition("lossy", "FocalLoss") is None
