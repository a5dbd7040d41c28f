"""The folder of a repository: one that is there, or what an archive holds, unpacked for as long as it is needed."""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager

TAR = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
PYTHON = (".py", ".pyw", ".ipynb", ".toml", ".cfg", ".ini", ".yaml", ".yml", ".json", ".gitignore", ".ignore")
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
