"""Packages that are installed for an interpreter: which there are, and in which file each of their modules is.

    .venv/lib/python3.12/site-packages/timm/utils/metrics.py      timm.utils.metrics

Nothing is executed, not even the interpreter: its folders are found by their names, as ``site`` would find them. Only
packages are of interest that require PyTorch, as their metadata say (``Requires-Dist: torch``), or another that does.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from ..bounds import BOUNDS

SITE = "site-packages"
BESIDE = (".venv", "venv")
"""Folders in a project's root in which its environment usually is."""
_REQUIRES = re.compile(r"^Requires-Dist: *([\w.-]+)([^\n]*)", re.MULTILINE | re.IGNORECASE)
_SEPARATORS = re.compile(r"[-_.]+")


def environment(root: str, variables: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The folders with packages of the environment that a project in ``root`` is used with: the activated one, the one
    in the project, or the one that tapelint is installed in.
    """
    named = (
        variables.get("VIRTUAL_ENV"),
        variables.get("CONDA_PREFIX"),
        *(os.path.join(root, each) for each in BESIDE),
    )
    return next((found for each in named if each and (found := site_folders(each))), _own())


def site_folders(place: str) -> tuple[str, ...]:
    """The folders with packages of an environment, named by its folder or its interpreter; none where it is none."""
    path = Path(place)
    if path.is_file():
        path = path.parent.parent  # bin/python, Scripts/python.exe
    by_version = sorted(path.glob(f"lib/python3.*/{SITE}"), key=_version)
    return tuple(str(each) for each in (by_version[-1:] or path.glob(f"Lib/{SITE}")))


def _version(folder: Path) -> int:
    return int(folder.parent.name.rpartition(".")[2].rstrip("t") or 0)


def _own() -> tuple[str, ...]:
    return tuple(each for each in sys.path if os.path.basename(each) == SITE)


class Installed:
    """The modules in ``folders``."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        self.folders = folders

    def find(self, module: str) -> str | None:
        """The path of the file of a module, by its dotted name; None where it is none, or of a package that does not
        require PyTorch.
        """
        parts = module.split(".")
        for folder in self.folders:
            if parts[0] not in _using_torch(folder):
                continue
            below = os.path.join(folder, *parts)
            for path in (os.path.join(below, "__init__.py"), f"{below}.py"):
                if os.path.isfile(path):
                    return path
        return None

    def definition(self, module: str, name: str) -> str | None:
        """The path of the file that defines what ``from module import name`` finds, as far as jedi knows."""
        from .by_jedi import defining_file  # 3 ms, for logging

        return defining_file(self.folders, module, name) if self.find(module) is not None else None


@lru_cache(maxsize=8)
def _using_torch(folder: str) -> frozenset[str]:
    """The top-level packages and modules in a folder that require PyTorch, themselves or through others."""
    requirements = _requirements(folder)
    using = {"torch"}
    while more := {name for name, (_, needed) in requirements.items() if name not in using and using & needed}:
        using |= more
    return frozenset(name for each in using & requirements.keys() for name in _provided(requirements[each][0]))


def _requirements(folder: str) -> dict[str, tuple[str, frozenset[str]]]:
    """By the name of each distribution in a folder: where its metadata are, and what it requires at any rate."""
    found: dict[str, tuple[str, frozenset[str]]] = {}
    try:
        names = os.listdir(folder)
    except OSError:
        return found
    for name in (each for each in names if each.endswith(".dist-info")):
        place = os.path.join(folder, name)
        lines = _REQUIRES.findall(_head(os.path.join(place, "METADATA")))
        needed = frozenset(_normalized(each) for each, rest in lines if "extra ==" not in rest)
        found[_normalized(name.partition("-")[0])] = place, needed
    return found


def _normalized(name: str) -> str:
    """The name of a distribution as all its spellings have it in common."""
    return _SEPARATORS.sub("-", name).lower()


def _head(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(BOUNDS.installed_bytes)
    except OSError:
        return ""


def _provided(distribution: str) -> Iterator[str]:
    """The top-level names that a distribution installs."""
    for line in _head(os.path.join(distribution, "RECORD")).splitlines():
        first, _, rest = line.partition("/")
        if rest and first.isidentifier():
            yield first
        elif not rest and (name := line.partition(",")[0]).endswith(".py"):
            yield name.removesuffix(".py")
