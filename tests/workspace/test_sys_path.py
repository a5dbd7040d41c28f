"""jedi follows what a file does to ``sys.path``, and nothing of a hostile repository is executed on the way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tapelint.workspace import Resolver

pytest.importorskip("jedi")

SERVER = Path(__file__).resolve().parents[2] / "server"
RUN = """import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "common", "deep"))
import torch
from metrics import twice
import pack.inner
"""
HOSTILE = "import pathlib\npathlib.Path(__file__).with_suffix('.ran').touch()\nraise SystemExit('executed')\n"

WATCHED = """
import sys
folder, module = sys.argv[1:]
import jedi, parso, tempfile  # what they do when they are loaded is not the matter here
from tapelint.workspace import Resolver

def audit(event, args):
    if event in ("subprocess.Popen", "os.system", "os.exec", "socket.connect", "ctypes.dlopen", "os.fork"):
        raise AssertionError(event)
    if event == "exec" and folder in str(getattr(args[0], "co_filename", "")):
        raise AssertionError("executed " + args[0].co_filename)
    if event == "import" and args[1] and folder in str(args[1]):
        raise AssertionError("imported " + args[1])

sys.addaudithook(audit)
found = Resolver([folder])(module, folder + "/tools/run.py")
print(found[0])
assert not any(name in sys.modules for name in ("metrics", "pack", "setuptools"))
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A script in one folder, what it imports in another, and files that must not run whatever imports them."""
    texts = {
        "tools/run.py": RUN,
        "common/deep/metrics.py": HOSTILE,
        "common/deep/pack/__init__.py": HOSTILE,
        "common/deep/pack/inner.py": HOSTILE,
        "tools/setuptools/__init__.py": HOSTILE,
        "tools/distutils/__init__.py": HOSTILE,
        "tools/sitecustomize.py": HOSTILE,
        **{f"tools/{name}.py": HOSTILE for name in ("builtins", "sys", "os", "posixpath", "turtle", "numpydoc")},
        "common/deep/parso.py": HOSTILE,
    }
    for name, text in texts.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("module", "path"), [("metrics", "metrics.py"), ("pack", "pack/__init__.py"), ("pack.inner", "pack/inner.py")]
)
def test_a_path_the_script_adds(repository: Path, module: str, path: str) -> None:
    found = Resolver([str(repository)])(module, str(repository / "tools" / "run.py"))
    assert found is not None
    assert found[0] == str(repository / "common" / "deep" / path)


@pytest.mark.parametrize("module", ["metrics", "pack.inner"])
@pytest.mark.parametrize("text", ["'x'", "os.environ.get('X', '.')", "os.getcwd() + '/x'"])
def test_nothing_is_executed(repository: Path, module: str, text: str) -> None:
    """Not where the answer is found, nor where jedi looks for it in vain: what it asks for then is named like modules
    of the interpreter and of the standard library.
    """
    (repository / "tools" / "run.py").write_text(f"{RUN}sys.path.append({text})\n")
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(repository), module],
        env={"PYTHONPATH": str(SERVER), "PATH": "", "HOME": str(repository)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert str(repository / "common" / "deep") in done.stdout
    assert not list(repository.rglob("*.ran"))
    assert not (repository / ".cache").exists()


# What files do to sys.path, with the folder that they mean: None where jedi cannot know, which is no reason to fail.
IDIOMS = {
    "real": ('os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "common", "deep")', "common/deep"),
    "up": ('os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + "/common/deep"', "common/deep"),
    "started": ('os.getcwd() + "/common/deep"', None),
    "given": ('os.environ.get("COMMON", "../common/deep")', None),
    "asked": ('os.path.join(os.path.dirname(__file__), "../common/deep") if len("x") else "y"', "common/deep"),
    "true": ('"../common/deep" if 1 == 1 and not False else None', "common/deep"),
}


@pytest.mark.parametrize("name", IDIOMS)
@pytest.mark.parametrize("module", ["metrics", "nowhere"])
def test_jedi_never_fails(repository: Path, name: str, module: str, caplog: pytest.LogCaptureFixture) -> None:
    added, folder = IDIOMS[name]
    script = repository / "tools" / "idiom.py"
    script.write_text(f"import os\nimport sys\nsys.path.append({added})\nimport metrics\nimport nowhere\n")
    caplog.set_level("DEBUG", "tapelint")
    found = Resolver([str(repository)])(module, str(script))
    assert [record.getMessage() for record in caplog.records] == []
    if module == "metrics" and folder:
        assert found is not None and found[0] == str(repository / folder / "metrics.py")


def test_a_fault_of_jedi_is_not_printed(repository: Path) -> None:
    """Nor what any other library has to say: it is in the log, which the user can ask for."""
    script = """
import sys
import jedi
from tapelint.cli import main

def fail(*given, **named):
    raise ValueError("a fault")

jedi.Script = fail
main(lambda: None)
"""
    run = repository / "tools" / "run.py"
    for log, is_told in (("", False), ("debug", True), ("error", False)):
        done = subprocess.run(
            [sys.executable, "-c", script, "check", str(run)],
            env={"PYTHONPATH": str(SERVER), "TAPELINT_LOG": log},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0
        assert ("ValueError: a fault" in done.stderr) is is_told
        assert (done.stderr == "") is not is_told


def test_jedi_is_loaded_only_for_sys_path(repository: Path) -> None:
    def refuse(module: str, importer: str, text: str) -> str | None:
        raise AssertionError(module)

    (repository / "tools" / "plain.py").write_text("import metrics\n")
    resolver = Resolver([str(repository)], further=refuse)
    assert resolver("metrics", str(repository / "tools" / "plain.py")) is None
