"""What a run does about findings that are known: it leaves out those of a baseline, lists them in one, or writes a
comment for each (``--add-ignore``), so that only what is new is reported.

    {"version": 1, "findings": {"src/train.py": {"TL101": {"loss.backward()": 2}}}}

In a baseline a finding is known by its file, its rule and the text of its row, not by the number of the row: code that
moves within its file keeps its findings. Of equal rows so many are known as the baseline counts.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from ..headline import number_of
from ..report.diagnostic import Diagnostic
from ..report.in_cells import place_in_cells
from ..report.notice import Kind
from ..source import NOTEBOOK, SourceError, Span, notebook, parse, read
from ..source.notebook_writing import with_code
from ..source.suppression.adding import with_ignores
from ..source.writing import rewrite
from .outcome import Run
from .streams import say
from .task import Found

USUAL = "tapelint-baseline.json"
VERSION = 1
Key = tuple[str, str, str]
"""The file, from the folder of the baseline on and with slashes; the code; the text of the row."""


@dataclass(slots=True)
class Baseline:
    """What is known. ``left`` are those that no finding of this run was."""

    path: str
    left: Counter[Key] = field(default_factory=Counter)

    def knows(self, found: Found) -> bool:
        """Whether a finding is known; each is asked for once."""
        key = self._key(found.diagnostic, found.row)
        if self.left[key] <= 0:
            return False
        self.left[key] -= 1
        return True

    def stale(self, checked: Collection[str]) -> list[Key]:
        """What is left of the files at these absolute paths, and of those that are gone."""
        folder = os.path.dirname(os.path.abspath(self.path))
        places = ((key, os.path.normpath(os.path.join(folder, key[0]))) for key in sorted(+self.left))
        return [key for key, place in places if place in checked or not os.path.lexists(place)]

    def write(self, found: Iterable[Found]) -> int:
        """Make these findings the known ones; how many they are. Raises OSError."""
        counts = Counter(self._key(each.diagnostic, each.row) for each in found)
        findings: dict[str, dict[str, dict[str, int]]] = {}
        for (name, code, row), count in sorted(counts.items()):
            findings.setdefault(name, {}).setdefault(code, {})[row] = count
        text = json.dumps({"version": VERSION, "findings": findings}, indent=2, ensure_ascii=False) + "\n"
        with open(self.path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        return counts.total()

    def _key(self, diagnostic: Diagnostic, row: str) -> Key:
        name = os.path.relpath(os.path.abspath(diagnostic.filename), os.path.dirname(os.path.abspath(self.path)))
        return name.replace(os.sep, "/"), diagnostic.code, row.strip()


def read_baseline(path: str) -> Baseline:
    """The baseline in a file. Raises OSError, and ValueError where it is none."""
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    try:
        version, findings = content["version"], content["findings"]
        if version != VERSION:
            raise ValueError(f"its version is {version}; write it anew")
        known = Counter(
            {
                (name, code, row): int(count)
                for name, codes in findings.items()
                for code, rows in codes.items()
                for row, count in rows.items()
            }
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError("it has no table of findings") from error
    return Baseline(path, known)


ABOUT_COMMENTS = ("TL901", "TL902")
"""The rules about suppression comments: what is wrong with comments is put right, not silenced. To ask the rules
themselves costs more than to check most files.
"""


def _add_comments(run: Run, path: str, name: str, wanted: list[tuple[str, int]]) -> int:
    """Write a comment for each of the findings, by code and row, into a file; how many they silence. Raises
    SourceError.
    """
    before = read(path)
    book = notebook(before) if path.endswith(NOTEBOOK) else None
    source = parse(book.text, path, book.cells) if book else parse(before, path)
    if source.problems or source.is_skipped:
        raise SourceError("it has syntax errors")
    added = with_ignores(source, wanted, run.request.add_ignore or "")
    after = with_code(before, added.text, book.cells) if book else added.text
    if after != before:
        rewrite(path, before, after)
    if added.left:
        rows = sorted({place_in_cells(source, Span(row, 1, row, 1)) for _, row in added.left})
        lines = ", ".join(f"line {span.row}{at.removeprefix(path).replace(':', ' of ')}" for at, span in rows)
        run.warn(f"{name}: no place for a comment at {lines}")
    return len(wanted) - len(added.left)


_SHOWN = 5
"""Entries of a baseline that a warning names."""


def leave_out_known(run: Run) -> Baseline | None:
    """Have the findings that are known not printed; the list of them, if there is one."""
    path = _path(run)
    if not path:
        return None
    try:
        baseline = read_baseline(path)
    except OSError as error:
        run.fail(f"{path}: cannot be read: {error.strerror or error}")
        return None
    except (ValueError, RecursionError) as error:
        run.fail(f"{path}: is no baseline of version {VERSION}: {error}")
        return None
    run.merged.is_known = baseline.knows
    return baseline


def tell_stale(run: Run, baseline: Baseline) -> None:
    """Say which entries of the baseline stand for nothing any more."""
    stale = baseline.stale(run.merged.files)
    if stale:
        shown = ", ".join(f"{name} {code}" for name, code, _ in stale[:_SHOWN])
        more = f" and {len(stale) - _SHOWN} more" if len(stale) > _SHOWN else ""
        run.warn(f"{baseline.path}: not found any more: {shown}{more}; --write-baseline drops them")


def write_baseline(run: Run) -> int:
    """Make what was found the baseline, and say how much that is; the exit status."""
    path = _path(run) or USUAL
    cut = run.unseen[Kind.PARSED_IN_PART]
    if cut:
        run.fail(f"{path} has nothing of what {number_of(cut, 'file')} with syntax errors will show without them")
    try:
        known = Baseline(path).write(run.merged.best())
    except OSError as error:
        run.fail(f"{path}: cannot be written: {error.strerror or error}")
    else:
        if not run.request.is_terse:
            say(f"Wrote {number_of(known, 'finding')} to {path}.")
    return 2 if run.failures else 0


def ignore_all(run: Run) -> int:
    """Silence what was found by comments, and say how much that is; the exit status."""
    names = {os.path.abspath(name): name for name in run.names}
    silenced, left = list[int](), 0
    for path, found in run.merged.places().items():
        wanted = [each for each in found if each[0] not in ABOUT_COMMENTS]
        left += len(wanted)
        if wanted and path not in names:
            run.warn(f"{path}: not changed: it is none of the files to check")
        elif wanted:
            try:
                silenced.append(_add_comments(run, path, names[path], wanted))
            except SourceError as error:
                run.fail(f"{names[path]}: not changed: {error}")
    left -= sum(silenced)
    more = f" {number_of(left, 'finding')} left." if left else ""
    changed = number_of(sum(map(bool, silenced)), "file")
    say(f"Added ignore comments for {number_of(sum(silenced), 'finding')} in {changed}.{more}")
    if run.failures:
        return 2
    return 1 if (left or run.found_unseen) and not run.request.exit_zero else 0


def _path(run: Run) -> str:
    config = run.selection.config(os.curdir)
    return os.path.relpath(config.baseline) if config and config.baseline else ""
