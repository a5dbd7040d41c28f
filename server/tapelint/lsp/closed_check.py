"""The analysis of one file that is not open, for the closed files of a workspace. Runs on the worker.

Only what the client is shown is kept of it: a workspace has many files, and the trees of each are large.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from lsprotocol import types
from pygls.uris import from_fs_path

from ..bounds import BOUNDS
from ..frozen import frozen
from ..report.diagnostic import Diagnostic
from ..source import NOTEBOOK
from ..workspace import IgnoreFiles, Resolver, discover, is_excluded_by_name
from . import deferred
from .caches import Memories
from .client_capabilities import ClientCapabilities
from .foreign import analysed, on_disk
from .settings import Settings

logger = logging.getLogger(__name__)

SUFFIXES = (".py", ".pyw")
"""A notebook that is not open has no cells that a client could show anything in."""
"""Python files of a workspace that are looked at."""


@frozen
class Checked:
    """What a file has shown: by path of the file that it stands in; and the files that it was led to."""

    shown: Mapping[str, list[types.Diagnostic]] = field(default_factory=dict)
    reads: frozenset[str] = frozenset()


def python_files(
    roots: Sequence[str], settings_of: Callable[[str], Settings], cancel: Callable[[], bool]
) -> tuple[list[str], bool]:
    """The files below the ``roots`` that neither configuration nor git leave out, and whether there are more."""

    def is_excluded(path: str) -> bool:
        if cancel():
            raise deferred.analysis.Cancelled
        config = settings_of(from_fs_path(path) or path).config(path)[0]
        by_name = config.excludes(path) if config.root else is_excluded_by_name(path)
        by_name = by_name or any(patterns.matches(path) for patterns in config.extend_exclude)
        return by_name or (config.respect_gitignore and ignored.ignores(path))

    found: list[str] = []
    for root in roots:
        ignored = IgnoreFiles(root)
        for path in discover(root, is_excluded):
            if len(found) == BOUNDS.project_files:
                return found, True
            if path.endswith(SUFFIXES):
                found.append(path)
    return [*dict.fromkeys(found)], False


def is_below(path: str, root: str) -> bool:
    """Whether a path is inside of a folder."""
    return path.startswith(root.rstrip(os.sep) + os.sep)


def _is_wanted(path: str, roots: Sequence[str], resolver: Resolver, settings: Settings) -> bool:
    """Whether a file is one that :func:`python_files` would find."""
    root = next((root for root in roots if is_below(path, root)), None)
    if root is None or not path.endswith(SUFFIXES) or not settings.checks(path, resolver, path):
        return False
    return not (settings.config(path)[0].respect_gitignore and IgnoreFiles(root).ignores(path))


def check(
    path: str,
    roots: Sequence[str],
    settings: Settings,
    client: ClientCapabilities,
    memories: Memories,
    resolver: Resolver,
    cancel: Callable[[], bool],
) -> Checked | None:
    """Analyse the file at ``path``; None where it does not train, or is not to be checked. Raises
    ``analysis.Cancelled`` when ``cancel`` says so.
    """
    text = resolver.text(path) if _is_wanted(path, roots, resolver, settings) else None
    if text is None or not deferred.training_files.trains(text):
        return None
    try:
        report = analysed(text, path, settings, resolver, memories, cancel)
    except deferred.analysis.Cancelled:
        raise
    except Exception:
        logger.exception("%s could not be checked", path)
        return Checked()
    found: dict[str, list[Diagnostic]] = {path: []}
    for finding in (*report.diagnostics, *report.elsewhere):
        if not finding.filename.endswith(NOTEBOOK):
            found.setdefault(finding.filename, []).append(finding)
    sources = {**report.others, report.path: report.source}
    shown = {
        place: on_disk(place, ((finding, sources) for finding in findings), client) for place, findings in found.items()
    }
    return Checked(shown, frozenset(resolver.found))
