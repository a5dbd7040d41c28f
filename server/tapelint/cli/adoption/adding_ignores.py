"""``--add-ignore``: a comment for each finding of a run, so that only what is new is reported from now on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...report.in_cells import place_in_cells
from ...source import NOTEBOOK, SourceError, Span, notebook, parse, read
from ...source.notebook_writing import with_code
from ...source.suppression.adding import with_ignores
from ...source.writing import rewrite

Places = Mapping[str, frozenset[tuple[str, int]]]
"""Findings by file: their codes and rows."""

ABOUT_COMMENTS = ("TL901", "TL902")
"""The rules about suppression comments. To ask the rules themselves costs more than to check most files."""


@dataclass(slots=True)
class Ignored:
    """What was done: how many findings are silenced, in which files, how many are left, and what went wrong."""

    silenced: int = 0
    files: int = 0
    left: int = 0
    warnings: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def add_ignores(found: Places, names: Mapping[str, str], reason: str = "") -> Ignored:
    """Write a comment for each finding into its file, if that is one of those with ``names``, which the user knows;
    with the ``reason`` after the codes. What is wrong with comments is put right, not silenced.
    """
    done = Ignored()
    for path, findings in found.items():
        wanted = [each for each in findings if each[0] not in ABOUT_COMMENTS]
        if wanted:
            done.left += len(wanted) - _added(path, names.get(path), wanted, done, reason)
    return done


def _added(path: str, name: str | None, wanted: list[tuple[str, int]], done: Ignored, reason: str) -> int:
    """Write the comments of one file; how many findings they silence."""
    if name is None:
        done.warnings.append(f"{path}: not changed: it is none of the files to check")
        return 0
    try:
        before = read(path)
        book = notebook(before) if path.endswith(NOTEBOOK) else None
        source = parse(book.text, path, book.cells) if book else parse(before, path)
        if source.problems or source.is_skipped:
            raise SourceError("it has syntax errors")
        added = with_ignores(source, wanted, reason)
        after = with_code(before, added.text, book.cells) if book else added.text
        if after != before:
            rewrite(path, before, after)
    except SourceError as error:
        done.failures.append(f"{name}: not changed: {error}")
        return 0
    if added.left:
        rows = sorted({place_in_cells(source, Span(row, 1, row, 1)) for _, row in added.left})
        lines = ", ".join(f"line {span.row}{at.removeprefix(path).replace(':', ' of ')}" for at, span in rows)
        done.warnings.append(f"{name}: no place for a comment at {lines}")
    silenced = len(wanted) - len(added.left)
    done.silenced += silenced
    done.files += after != before
    return silenced
