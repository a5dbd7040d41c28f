"""Where a repository is: a folder, or one commit of a git directory without a work tree.

examples                         a folder, its commit asked of git if it is a checkout
gan=/checkouts/PyTorch-GAN       the same under another name
timm=/mirrors/timm.git@1.0.0:timm    one folder of a commit out of a bare repository
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_ADDRESS = re.compile(r"(?:(?P<name>[^=/]+)=)?(?P<path>[^@:]+)(?:@(?P<commit>[^:]+))?(?::(?P<below>.+))?")


@dataclass(frozen=True, slots=True)
class Repository:
    """One repository: the name it goes by, where it is, which commit, and the folder in it that is looked at."""

    name: str
    path: Path
    commit: str | None = None
    below: str = ""

    @property
    def is_bare(self) -> bool:
        """Whether there are no files but git's own."""
        return (self.path / "objects").is_dir() and (self.path / "HEAD").is_file()


def repository(address: str) -> Repository:
    """What ``[NAME=]PATH[@COMMIT][:FOLDER]`` means.

    >>> repository("gan=/checkouts/PyTorch-GAN@36d3c77")
    Repository(name='gan', path=PosixPath('/checkouts/PyTorch-GAN'), commit='36d3c77', below='')
    """
    if Path(address).exists():
        path, found = Path(address), {}
    else:
        match = _ADDRESS.fullmatch(address)
        if match is None or not Path(match["path"]).exists():
            raise FileNotFoundError(address)
        path, found = Path(match["path"]), match.groupdict()
    name = found.get("name") or path.resolve().name
    made = Repository(name, path, found.get("commit"), found.get("below") or "")
    if made.is_bare or (path / ".git").exists():
        named = _git(path, "rev-parse", "--short", f"{made.commit or 'HEAD'}^{{commit}}").decode().strip()
        return Repository(name, path, named, made.below)
    return made


@contextmanager
def files(which: Repository) -> Iterator[Path]:
    """A folder with the files of a repository; those of a bare one are written to a temporary one."""
    if not which.is_bare:
        yield which.path / which.below
        return
    with tempfile.TemporaryDirectory() as folder:
        wanted = ["--", which.below] if which.below else []
        listed = _git(which.path, "ls-tree", "-r", "-z", "--name-only", which.commit or "HEAD", *wanted)
        for name in filter(None, listed.decode("utf-8", "surrogateescape").split("\0")):
            if name.endswith((".py", ".pyw", ".ipynb", ".toml")):
                target = Path(folder, name)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(_git(which.path, "show", f"{which.commit or 'HEAD'}:{name}"))
        yield Path(folder, which.below)


def _git(path: Path, *arguments: str) -> bytes:
    done = subprocess.run(["git", "-C", str(path), *arguments], capture_output=True, check=True)
    return done.stdout
