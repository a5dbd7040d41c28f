"""The folder that is analysed is not trusted: nothing in it is imported, by no process of ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from plain import SERVER

PROGRAM = "import torch\ny = torch.ones(2, requires_grad=True).exp()\ny += 1\ny.sum().backward()\n"
SCRIPT = "import re\nimport sys\nfrom tapelint.__main__ import main\nsys.exit(main())\n"
"""What pip writes for the command."""
OURS = """click jedi parso pygls lsprotocol attrs attr cattrs packaging pathspec yaml tomli rich
pygments markdown_it torch numpy sitecustomise""".split()


@cache
def _loaded_by_python() -> frozenset[str]:
    """What Python itself has loaded before the first line of tapelint is executed."""
    code = "import re, runpy, pkgutil, sys; print(*(name.partition('.')[0] for name in sys.modules))"
    shown = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return frozenset(shown.stdout.split())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder whose modules have the names of those that we, or Python's library, could want to import."""
    folder = tmp_path / "project"
    folder.mkdir()
    trap = f"open({str(tmp_path / 'executed')!r}, 'a').write(__name__ + ' ')\n"
    for name in (set(sys.stdlib_module_names) | {*OURS}) - _loaded_by_python():
        (folder / f"{name}.py").write_text(trap)
    for number in range(9):
        (folder / f"train{number}.py").write_text(PROGRAM)
    return folder


def executed(project: Path) -> str:
    note = project.parent / "executed"
    return note.read_text() if note.exists() else ""


def start(project: Path, way: str) -> list[str]:
    if way == "-m":
        return [sys.executable, "-m", "tapelint"]
    script = project.parent / "bin" / "tapelint"
    script.parent.mkdir()
    script.write_text(SCRIPT)
    return [sys.executable, str(script)]


@pytest.mark.parametrize(("way", "named"), [("-m", "."), ("-m", "{project}"), ("script", "src:..")])
def test_nothing_of_the_folder_is_imported(project: Path, way: str, named: str) -> None:
    """In several processes, which report to the first and have findings to put into words."""
    environment = {**os.environ, "PYTHONPATH": f"{named.format(project=project)}{os.pathsep}{SERVER}"}
    command = [*start(project, way), "check", "--jobs", "2", *sorted(f.name for f in project.glob("train*.py"))]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, timeout=120)
    assert (executed(project), done.stderr) == ("", "")
    assert done.returncode == 1 and done.stdout.count("TL201") >= 9


def test_processes_that_are_started_anew_trust_as_little(project: Path) -> None:
    """Where processes are not forked they begin with the environment, and read ``sys.path`` from it."""
    code = "import tapelint.__main__, os, sys; print(os.environ['PYTHONPATH']); print(*sys.path)"
    environment = {**os.environ, "PYTHONPATH": f".{os.pathsep}{SERVER}"}
    command = [sys.executable, "-c", f"import sys; sys.path.remove(''); {code}"]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, timeout=60)
    named, path = done.stdout.splitlines()
    assert named == str(SERVER) and str(project) not in path.split()


@pytest.mark.parametrize("way", ["-m", "script"])
def test_the_language_server_imports_nothing_of_its_workspace(project: Path, way: str) -> None:
    root = project.as_uri()
    document = {"uri": f"{root}/train0.py", "languageId": "python", "version": 1, "text": PROGRAM}
    messages: list[dict[str, object]] = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": root, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"method": "textDocument/didOpen", "params": {"textDocument": document}},
    ]
    environment = {**os.environ, "PYTHONPATH": f".{os.pathsep}{SERVER}"}
    server = subprocess.Popen(
        [*start(project, way), "server"], cwd=project, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert server.stdin and server.stdout
    for message in messages:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    server.stdin.flush()
    heard = b""
    while b"TL201" not in heard:
        part = server.stdout.readline() if not heard.endswith(b"\r\n\r\n") else server.stdout.read1()
        assert part, heard
        heard += part
    server.stdin.close()
    server.stdout.close()
    server.wait(60)
    assert executed(project) == ""


def test_a_folder_of_installed_packages_stays(tmp_path: Path) -> None:
    """As ``pip install --target`` makes them."""
    (tmp_path / "click-8.dist-info").mkdir()
    code = "import tapelint.__main__, sys; print(*sys.path)"
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{SERVER}"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert str(tmp_path) in done.stdout.split()
