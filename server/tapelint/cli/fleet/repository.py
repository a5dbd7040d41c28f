"""One repository: all of its files, checked in a process that is ended where one of them takes too long."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from ... import __version__
from ...frozen import frozen
from ...workspace import Given
from ..chosen_files import Complaint, Selection
from .records import CheckedFile, RepositoryRecord

START = "import sys; sys.path[:] = sys.argv.pop(1).split(sys.argv.pop(1)); from {} import main; main()"
WORKER = START.format("tapelint.cli.fleet.file_worker")
"""What the process executes. It runs in the folder of the repository, of which Python must import nothing: neither its
own folder nor what PYTHONPATH names relative to it is searched.
"""
_PATIENCE = 0.2
"""Seconds after which a thread that waits for an answer looks whether the run still wants it."""


@frozen
class Bounds:
    """What one file may take: seconds by the clock, and bytes of memory of its process (0: any)."""

    seconds: float = 60.0
    memory: int = 0


class Stopped(Exception):
    """The run was ended: the record of the repository is not wanted any more."""


def check_repository(place: str, bounds: Bounds, stop: threading.Event | None = None) -> RepositoryRecord:
    """The record of the repository at ``place``. What cannot be read is in the record, too. Raises only Stopped, soon
    after ``stop`` is set by another thread.
    """
    stop = stop or threading.Event()
    begin = time.monotonic()
    record = RepositoryRecord(place, __version__)
    try:
        with unpacked(place) as folder:
            record = replace(record, files=list(_files(folder, bounds, stop)))
    except Stopped:
        raise
    except OSError as error:
        record = replace(record, error=str(error))
    except Exception as error:
        record = replace(record, error=f"internal error: {type(error).__name__}: {error}")
    return replace(record, seconds=round(time.monotonic() - begin, 3))


def _files(folder: str, bounds: Bounds, stop: threading.Event) -> Iterator[CheckedFile]:
    complaints: dict[str, Complaint] = {}
    names = [os.path.relpath(each, folder) for each in Selection(Given(), complaints.setdefault).files(folder)]
    process: _Process | None = None
    try:
        for name in names:
            process = process or _Process(folder, bounds, stop)
            record = process.checked(name)
            yield record
            if record.outcome in ("timeout", "died"):
                process.end()
                process = None
    finally:
        if process is not None:
            process.end()
    for message, complaint in complaints.items():
        yield CheckedFile(".", notices=[{"kind": complaint, "message": message}])


class _Process:
    """A worker for the files below ``folder``."""

    def __init__(self, folder: str, bounds: Bounds, stop: threading.Event) -> None:
        self._bounds, self._stop = bounds, stop
        searched = [os.path.abspath(each) for each in sys.path if each]
        self._process = subprocess.Popen(
            [sys.executable, "-c", WORKER, os.pathsep.join(searched), os.pathsep, str(bounds.memory)],
            cwd=folder,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C is for the process that knows what has become of the run
        )
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def checked(self, name: str) -> CheckedFile:
        """The record of a file; raises Stopped."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(name) + "\n")
            self._process.stdin.flush()
            answer = self._answer()
        except queue.Empty:
            return CheckedFile(name, "timeout", self._bounds.seconds)
        except OSError:
            answer = ""
        return CheckedFile(**json.loads(answer)) if answer else CheckedFile(name, "died")

    def _answer(self) -> str:
        """The next line of the process; empty when it has ended. Raises queue.Empty after the time of a file."""
        end = time.monotonic() + self._bounds.seconds
        while not self._stop.is_set():
            left = end - time.monotonic()
            try:
                return self._answers.get(timeout=max(0.0, min(left, _PATIENCE)))
            except queue.Empty:
                if left <= 0:
                    raise
        raise Stopped

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    pass  # what was still to be sent to a process that has ended

    def _read(self) -> None:
        """Lines that the process answers; an empty one when it has ended."""
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                self._answers.put(line)
        except ValueError:
            pass  # closed while it was read
        self._answers.put("")


TAR = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
PYTHON = (".py", ".pyw", ".ipynb", ".toml", ".cfg", ".ini", ".gitignore", ".ignore")
"""The endings of what is unpacked of an archive: code, and configurations that a program or tapelint reads."""


@contextmanager
def unpacked(place: str) -> Iterator[str]:
    """The folder of the repository at ``place``. Raises OSError where there is none, or the archive is broken."""
    if os.path.isdir(place):
        yield place
        return
    if not os.path.isfile(place):
        raise FileNotFoundError(f"{place}: there is no such folder or archive")
    with tempfile.TemporaryDirectory(prefix="tapelint-fleet-") as folder:
        try:
            if place.endswith(TAR):
                _untar(place, folder)
            elif zipfile.is_zipfile(place):
                _unzip(place, folder)
            else:
                raise OSError(f"{place}: neither a folder nor a tar or zip archive")
        except (tarfile.TarError, zipfile.BadZipFile, EOFError, ValueError) as error:
            raise OSError(f"{place}: cannot be unpacked: {error}") from error
        yield folder


def _untar(place: str, folder: str) -> None:
    with tarfile.open(place) as archive:
        for member in archive:
            target = _target(folder, member.name)
            if target is not None and member.isfile() and (content := archive.extractfile(member)) is not None:
                with content, open(target, "wb") as file:
                    shutil.copyfileobj(content, file)


def _unzip(place: str, folder: str) -> None:
    with zipfile.ZipFile(place) as archive:
        for member in archive.infolist():
            target = _target(folder, member.filename)
            if target is not None and not member.is_dir():
                with archive.open(member) as content, open(target, "wb") as file:
                    shutil.copyfileobj(content, file)


def _target(folder: str, name: str) -> str | None:
    """Where a file of an archive is put; None of one that is not needed, or would be outside."""
    target = os.path.normpath(os.path.join(folder, name))
    if not name.endswith(PYTHON) or not target.startswith(folder + os.sep):
        return None
    os.makedirs(os.path.dirname(target), exist_ok=True)
    return target
