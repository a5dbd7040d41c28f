"""``tapelint fleet``: a record for each repository, once, whatever its files do to the process that checks them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from plain import Plain, Tapelint

LOOP = """import torch
w = torch.ones(3, requires_grad=True)
loss = w.exp().sum()
for _ in range(2):
    loss.backward()
"""
HOSTILE = "import pathlib\npathlib.Path(__file__).with_suffix('.ran').touch()\nraise SystemExit('executed')\n"
SERVER = Path(__file__).resolve().parents[2] / "server"


def _repository(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.py").parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.py").write_text(text)
    return folder


def _records(path: Path) -> dict[str, Any]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len({each["repository"] for each in lines}) == len(lines)
    return {Path(each["repository"]).name: each for each in lines}


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """A list with a folder, two archives and one that is not there."""
    one = _repository(tmp_path / "one", train=LOOP, clean="import torch\n")
    with tarfile.open(tmp_path / "two.tar.gz", "w:gz") as archive:
        archive.add(one, "two")
    with zipfile.ZipFile(tmp_path / "three.zip", "w") as archive:
        archive.write(one / "train.py", "three/train.py")
        archive.writestr("../outside.py", LOOP)
    (tmp_path / "list.txt").write_text("# all of them\none\ntwo.tar.gz\n\nthree.zip\nnowhere\none\n")
    return tmp_path


def _codes(record: Any) -> list[tuple[str, str]]:
    return [(each["filename"], found["code"]) for each in record["files"] for found in each["findings"]]


def test_folders_and_archives_have_a_record_each(listed: Path, tapelint: Tapelint) -> None:
    done = tapelint("fleet", "list.txt", "-o", "out.jsonl", "--jobs", "2")
    assert done.returncode == 2
    assert "nowhere: there is no such folder or archive" in done.stderr
    assert done.stderr.splitlines()[-1] == "4 repositories, 5 files, 3 findings, 1 could not be read."
    records = _records(listed / "out.jsonl")
    assert records.keys() == {"one", "two.tar.gz", "three.zip", "nowhere"}
    assert _codes(records["one"]) == [("train.py", "TL103")]
    assert _codes(records["two.tar.gz"]) == [("two/train.py", "TL103")]
    assert _codes(records["three.zip"]) == [("three/train.py", "TL103")]
    assert not (listed.parent / "outside.py").exists()


def test_it_goes_on_where_it_stopped(listed: Path, tapelint: Tapelint) -> None:
    tapelint("fleet", "list.txt", "-o", "out.jsonl")
    whole = (listed / "out.jsonl").read_text().splitlines(keepends=True)
    (listed / "out.jsonl").write_text("".join(whole[:2]) + whole[2][:40])  # ended while the third was written
    done = tapelint("fleet", "list.txt", "-o", "out.jsonl")
    assert "2 of 4 repositories are in out.jsonl already." in done.stderr
    assert len(_records(listed / "out.jsonl")) == 4
    assert (listed / "out.jsonl").read_text().startswith("".join(whole[:2]))


def test_nothing_of_a_repository_is_imported(tmp_path: Path, tapelint: Tapelint) -> None:
    names = ("json", "click", "typing", "sitecustomize", "usercustomize", "tapelint", "resource", "time", "os")
    _repository(tmp_path / "trap", train=LOOP, **dict.fromkeys(names, HOSTILE))
    (tmp_path / "list.txt").write_text("trap\n")
    done = tapelint("fleet", "list.txt", "-o", "out.jsonl", PYTHONPATH=f"{SERVER}{os.pathsep}.")
    assert done.returncode == 1, done.stderr
    assert _codes(_records(tmp_path / "out.jsonl")["trap"]) == [("train.py", "TL103")]
    assert not list(tmp_path.rglob("*.ran"))


SLOW = """
from tapelint.cli.fleet import file_worker as worker
check = worker.check_file
def checked(task):
    if task.path == "slow.py":
        __import__("time").sleep(60)
    if task.path == "greedy.py":
        bytearray(1 << 40)
    if task.path == "deadly.py":
        import os
        os._exit(3)
    return check(task)
worker.check_file = checked
"""


@pytest.mark.skipif(sys.platform == "win32", reason="memory is not limited there")
def test_a_file_that_is_too_much_costs_itself_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tapelint.cli.fleet import repository

    monkeypatch.setattr(repository, "WORKER", repository.WORKER.replace("; from", f"; exec({SLOW!r}); from"))
    names = ("a", "deadly", "greedy", "m", "slow", "z")
    _repository(tmp_path / "all", **dict.fromkeys(names, LOOP))
    record = repository.check_repository(str(tmp_path / "all"), repository.Bounds(seconds=10.0, memory=2 << 30))
    assert record.error is None
    assert {each.filename: each.outcome for each in record.files} == {
        **dict.fromkeys(("a.py", "m.py", "z.py"), "checked"),
        **{"deadly.py": "died", "greedy.py": "memory", "slow.py": "timeout"},
    }
    assert [each.filename for each in record.files if each.findings] == ["a.py", "m.py", "z.py"]


def test_an_engine_that_is_not_installed_is_named(
    listed: Path, tapelint: Tapelint, tmp_path_factory: pytest.TempPathFactory
) -> None:
    without = tmp_path_factory.mktemp("without")
    (without / "distributed.py").write_text("raise ImportError\n")
    (without / "distributed-0.dist-info").mkdir()  # a folder with libraries: no other is searched
    searched = f"{without}{os.pathsep}{SERVER}"
    done = tapelint("fleet", "list.txt", "-o", "out.jsonl", "--engine", "dask", PYTHONPATH=searched)
    assert done.returncode == 2
    assert done.stderr == "error: the engine dask needs Dask: pip install 'tapelint[fleet]'\n"


WAITING = """
import os, time
from tapelint.cli.fleet import file_worker as worker
def wait(task):
    os.write(2, f"waiting {os.getpid()}\\n".encode())
    time.sleep(600)
check = worker.check_file
worker.check_file = lambda task: wait(task) if "wait" in open(task.path).read() else check(task)
"""
FLEET = """
import sys
from tapelint.cli.fleet import repository
repository.WORKER = repository.WORKER.replace("; from", f"; exec({WAITING!r}); from")
start = repository.subprocess.Popen
repository.subprocess.Popen = lambda *command, **how: start(*command, **{**how, "stderr": None})
from tapelint.cli import main
main(lambda: None)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("number", [signal.SIGINT])
def test_an_interrupt_ends_what_runs_and_says_how_far_it_has_come(tmp_path: Path, number: signal.Signals) -> None:
    for name in ("one", "two"):
        _repository(tmp_path / name, train=LOOP)
    _repository(tmp_path / "three", a=LOOP, b="wait")
    with tarfile.open(tmp_path / "four.tar", "w") as archive:
        archive.add(tmp_path / "three", "four")
    (tmp_path / "list.txt").write_text("one\ntwo\nthree\nfour.tar\none\n")
    unpacked = tmp_path / "unpacked"
    unpacked.mkdir()
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"WAITING = {WAITING!r}\n{FLEET}",
            "fleet",
            "list.txt",
            "-o",
            "out.jsonl",
            "--jobs",
            "2",
        ],
        cwd=tmp_path,
        env={"PYTHONPATH": str(SERVER), "PATH": os.environ["PATH"], "TMPDIR": str(unpacked)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    workers = [int(process.stderr.readline().split()[1]) for _ in range(2)]
    assert list(unpacked.iterdir())
    os.killpg(process.pid, number)  # as Ctrl-C in a terminal does
    _, said = process.communicate(timeout=60)
    assert said == "error: interrupted after 2 of 4 repositories\n"
    assert process.returncode == 128 + number
    assert _records(tmp_path / "out.jsonl").keys() == {"one", "two"}
    assert not list(unpacked.iterdir())
    for each in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(each, 0)


def test_a_folder_that_cannot_be_read_is_no_wrong_configuration(plain: Plain) -> None:
    _repository(plain.folder / "one", train=LOOP)
    (plain.folder / "one" / "secret").mkdir(mode=0o000)
    (plain.folder / "one" / "below").mkdir()
    (plain.folder / "one" / "below" / "tapelint.toml").write_text("selekt = []\n")
    (plain.folder / "one" / "below" / "a.py").write_text("import torch\n")
    (plain.folder / "list.txt").write_text("one\n")
    plain("fleet", "list.txt", "-o", "out.jsonl")
    files = _records(plain.folder / "out.jsonl")["one"]["files"]
    said = {each["kind"]: each["message"] for file in files if file["filename"] == "." for each in file["notices"]}
    assert said.keys() == {"configuration", "not_read"}
    assert "unknown key 'selekt'" in said["configuration"] and "secret: cannot be read" in said["not_read"]
