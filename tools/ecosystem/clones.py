"""The files of a repository at its commit: from a folder of clones on this machine, or fetched from GitHub.

The folder of clones may hold OWNER/NAME, OWNER+NAME or NAME, each a checkout, a bare repository, a folder with one of
these in it, or just the files. What is fetched is kept in .cache/ecosystem, without history and without large files.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .pins import Pin
from .settings import ROOT

CACHE = ROOT / ".cache" / "ecosystem"
HOST = "https://github.com"
SUFFIXES = (".py", ".pyw", ".pyi", ".ipynb", ".toml", ".cfg", ".ini", ".yaml", ".yml", ".json")
"""Programs, and the files that say how they are run."""
LARGEST = "1m"
"""Files that are larger are not fetched before they are asked for."""
PATIENCE = 900
"""Seconds for one fetch."""


class Unreachable(Exception):
    """A repository or its commit cannot be had; the message says why."""


@contextmanager
def tree(pin: Pin, clones: Path | None) -> Iterator[Path]:
    """A new folder with the files of a repository, removed afterwards. Raises Unreachable."""
    git, plain = _local(pin, clones) if clones else (None, None)
    with tempfile.TemporaryDirectory(prefix="ecosystem-") as made:
        folder = Path(made, pin.folder)
        if plain is not None and git is None:
            _copy_files(plain, folder)
        else:
            _write_files(git or _fetched(pin), pin.commit, folder)
        yield folder


def _copy_files(plain: Path, folder: Path) -> None:
    for path in plain.rglob("*"):
        if path.suffix in SUFFIXES and path.is_file() and not path.is_symlink():
            target = folder / path.relative_to(plain)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


def _local(pin: Pin, clones: Path) -> tuple[Path | None, Path | None]:
    """A git directory that has the commit, and a folder that has only files, if there are such."""
    plain = None
    for name in (pin.name, pin.folder, pin.name.partition("/")[2]):
        for place in (clones / name, clones / f"{name}.git"):
            if not place.is_dir():
                continue
            around = (place, place / ".git", *sorted(place.glob("*/")), *sorted(place.glob("*/.git/")))
            repositories = [each for each in around if (each / "objects").is_dir() and (each / "HEAD").is_file()]
            for git in repositories:
                if _has(git, pin.commit):
                    return git, plain
            if not repositories:
                plain = plain or place
    return None, plain


def _has(git: Path, commit: str) -> bool:
    asked = ["git", "--git-dir", str(git), "cat-file", "-e", f"{commit}^{{tree}}"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


def _fetched(pin: Pin) -> Path:
    """The git directory in the cache, with the commit in it."""
    git = CACHE / f"{pin.folder}.git"
    if _has(git, pin.commit):
        return git
    if not git.is_dir():
        git.parent.mkdir(parents=True, exist_ok=True)
        _run(git, "init", "--quiet", "--bare", str(git))
        _run(git, "remote", "add", "origin", f"{HOST}/{pin.name}")
    try:
        _run(git, "fetch", "--quiet", "--depth", "1", f"--filter=blob:limit={LARGEST}", "origin", pin.commit)
    except Unreachable:
        shutil.rmtree(git)  # a repository that was renamed or removed leaves nothing behind
        raise
    return git


def _run(git: Path, *arguments: str) -> None:
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_DIR": str(git)}
    try:
        subprocess.run(
            ["git", *arguments], env=environment, capture_output=True, check=True, timeout=PATIENCE, text=True
        )
    except subprocess.TimeoutExpired as error:
        raise Unreachable(f"no answer after {PATIENCE} seconds") from error
    except subprocess.CalledProcessError as error:
        said = str(error.stderr).strip().splitlines() or ["git fails without a word"]
        raise Unreachable(next((row for row in said if row.startswith(("fatal:", "error:"))), said[-1])) from error


def _write_files(git: Path, commit: str, folder: Path) -> None:
    """Write the files of a commit that say something about programs below ``folder``, as they were committed.

    Symbolic links are left out, and so is what the repository does not have (a clone without its large files).
    """
    listed = _git(git, b"", "ls-tree", "-r", "-z", "--full-tree", commit).decode("utf-8", "surrogateescape")
    wanted: list[tuple[str, str]] = []
    for row in filter(None, listed.split("\0")):
        entry, _, path = row.partition("\t")
        mode, kind, blob = entry.split()
        if kind == "blob" and mode != "120000" and path.endswith(SUFFIXES):
            wanted.append((blob, path))
    data = _git(git, "".join(f"{blob}\n" for blob, _ in wanted).encode(), "cat-file", "--batch")
    start = 0
    for _, path in wanted:
        end = data.index(b"\n", start)
        head = data[start:end].split()
        start = end + 1
        if head[-1] == b"missing":
            continue
        size = int(head[-1])
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data[start : start + size])
        start += size + 1


def _git(git: Path, given: bytes, *arguments: str) -> bytes:
    try:
        done = subprocess.run(["git", "--git-dir", str(git), *arguments], input=given, capture_output=True, check=True)
    except subprocess.CalledProcessError as error:
        raise Unreachable(f"{git}: {error.stderr.decode(errors='replace').strip()}") from error
    return done.stdout
