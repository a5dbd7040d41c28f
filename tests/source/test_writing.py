"""A file that is rewritten stays the file it was, and an interruption leaves the old text or the new one."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tapelint.source import SourceError, writing
from tapelint.source.writing import rewrite

SERVER = Path(__file__).resolve().parents[2] / "server"
OLD, NEW = "x = 1\n", "x = 1\nlonger = 2\n"
by_way = pytest.mark.parametrize("has_links", [False, True], ids=["replaced", "in place"])


def written(folder: Path, has_links: bool) -> Path:
    file = folder / "a.py"
    file.write_text(OLD)
    if has_links:
        os.link(file, folder / "b.py")
    return file


@by_way
@pytest.mark.parametrize("after", [NEW, "x\n"])
def test_rewriting_keeps_mode_and_folder(tmp_path: Path, has_links: bool, after: str) -> None:
    file = written(tmp_path, has_links)
    names = os.listdir(tmp_path)
    file.chmod(0o754)
    rewrite(str(file), OLD, after)
    assert {(tmp_path / name).read_text() for name in names} == {after}
    assert os.listdir(tmp_path) == names
    assert stat.S_IMODE(file.stat().st_mode) == 0o754
    assert file.stat().st_nlink == 1 + has_links


def test_extended_attributes_are_kept(tmp_path: Path) -> None:
    file = written(tmp_path, False)
    try:
        os.setxattr(file, "user.origin", b"here")
    except (AttributeError, OSError):
        pytest.skip("no extended attributes here")
    rewrite(str(file), OLD, NEW)
    assert (file.read_text(), os.getxattr(file, "user.origin")) == (NEW, b"here")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_the_owner_is_kept(tmp_path: Path) -> None:
    file = written(tmp_path, False)
    os.chown(file, 65534, 65533)
    rewrite(str(file), OLD, NEW)
    assert (file.stat().st_uid, file.stat().st_gid, file.read_text()) == (65534, 65533, NEW)


@by_way
def test_full_disk_keeps_the_old_text(tmp_path: Path, has_links: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, has_links)
    names = os.listdir(tmp_path)
    fsync = os.fsync

    def full(handle: int) -> None:
        if os.fstat(handle).st_size == len(NEW):
            raise OSError(28, "No space left on device")
        fsync(handle)

    monkeypatch.setattr(writing.os, "fsync", full)
    with pytest.raises(SourceError, match="No space left on device"):
        rewrite(str(file), OLD, NEW)
    assert file.read_text() == OLD
    assert os.listdir(tmp_path) == names


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signals")
@by_way
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_an_interrupt_leaves_old_or_new_text(tmp_path: Path, has_links: bool, number: signal.Signals) -> None:
    """The process gets the signal when the new text is half written: when it is brought to the disk the first time."""
    file = written(tmp_path, has_links)
    script = f"""
import os, signal, sys
from tapelint.source import writing
for number in signal.SIGINT, signal.SIGHUP:  # nohup, or a shell without job control, starts us with them ignored
    signal.signal(number, signal.SIG_DFL)
fsync = os.fsync
def interrupted(handle):
    os.kill(os.getpid(), {int(number)})
    fsync(handle)
writing.os.fsync = interrupted
writing.rewrite({str(file)!r}, {OLD!r}, {NEW!r})
"""
    done = subprocess.run([sys.executable, "-c", script], env={"PYTHONPATH": str(SERVER)}, check=False)
    assert done.returncode == -number
    if number == signal.SIGKILL:
        assert file.read_text() == OLD
    else:  # it has to wait
        assert file.read_text() == NEW
        assert sorted(os.listdir(tmp_path)) == ["a.py", "b.py"][: 1 + has_links]


def test_killed_during_an_in_place_write(tmp_path: Path) -> None:
    """What nothing can prevent: then the old text is found beside the file."""
    file = written(tmp_path, True)
    script = f"""
import os
from tapelint.source import writing
writing._overwrite = lambda file, data: (file.write(b"ha"), os.kill(os.getpid(), 9))
writing.rewrite({str(file)!r}, {OLD!r}, {NEW!r})
"""
    subprocess.run([sys.executable, "-c", script], env={"PYTHONPATH": str(SERVER)}, check=False)
    (copy,) = (name for name in os.listdir(tmp_path) if name.startswith(".tapelint-"))
    assert (tmp_path / copy).read_text() == OLD
