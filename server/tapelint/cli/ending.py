"""The end of a run: what was found is printed, in the order of the paths, and gives the exit status.

Findings wait for the last file: one that is checked later may show that a hazard of an earlier one is graver.

Counted is how many findings of each rule there are, and how many of them ``--fix`` cures (``--statistics``); how many
it has cured (``--show-fixes``).
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TextIO

from ..headline import number_of
from ..report.look import look_for
from ..report.notice import listed
from ..severity import Severity
from .baseline import ignore_all, leave_out_known, tell_stale, write_baseline
from .documents import DOCUMENTS, LINES
from .outcome import Run
from .printing import fixable_line, fixable_of, in_columns, print_findings
from .streams import flash, say, writing
from .task import FileResult


def finish(run: Run) -> int:
    """Print what concerns all files; the exit status."""
    flash("")
    if run.callers_cut:
        say("note: the project is too large to look for all files that use those which were checked")
    _tell_followed(run)
    if run.request.add_ignore is not None:
        return ignore_all(run)
    if run.request.write_baseline:
        return write_baseline(run)
    counted = _report(run)
    if run.request.stats:
        for name, count in sorted(run.stats.items()):
            say(f"{name}: {count}")
    return _status(run, counted)


def _tell_followed(run: Run) -> None:
    """Say how much of each file was followed where that is wanted, and where nothing was found since no backward was.
    What a file that uses it follows counts.
    """
    silent: list[FileResult] = []
    for path, answer in run.followed.items():
        by_others = len(run.reached.intersection((path, *end) for end in answer.missed))
        if answer.coverage:
            more = f"; files that use it follow {by_others} more" if by_others else ""
            say(f"{answer.path}: {answer.coverage}{more}")
            run.stats.update({"reached_by_callers": by_others} if by_others else {})
        elif answer.unfollowed and not by_others and run.tells_silence:
            silent.append(answer)
    if run.explains_silence:
        for answer in silent:
            say(f"note: {answer.unfollowed}")
    elif silent:
        others = f" and {number_of(len(silent) - 1, 'other file')}" if len(silent) > 1 else ""
        say(f"note: no backward call in {silent[0].path}{others} was followed: `tapelint check --stats FILE` says why")


def _report(run: Run) -> int:
    """Print what was found and is not known; how many findings count for the exit status."""
    baseline = leave_out_known(run)
    is_told = not (run.request.diff or run.request.fix_only)
    printed = [*run.merged.printed(run.request.asked_format)] if is_told else []
    found = [each for each, _ in printed if each]
    if not run.request.silent:
        is_counted = run.request.statistics
        texts = [text for each, text in printed if each or not is_counted]
        _print_all(run, texts, _summary(run, Counter(each.diagnostic.severity for each in found)))
    if baseline:
        tell_stale(run, baseline)
    return sum(each.counts for each in found)


def _status(run: Run, counted: int) -> int:
    """The exit status of a run in which so many findings count."""
    if run.failures:
        return 2
    counted = run.fixes if run.request.diff else counted + run.found_unseen
    if run.request.fix_only:
        counted = 0
    if run.request.exit_non_zero_on_fix:
        counted += run.fixes
    return 1 if counted and not run.request.exit_zero else 0


def _print_all(run: Run, found: Sequence[Any], summary: str) -> None:
    """Print the findings to where the user wants them."""
    place = run.request.output_file
    if not place:
        with writing():
            _print(run, found, summary, sys.stderr if run.request.is_filter else sys.stdout)
        return
    try:
        os.makedirs(os.path.dirname(os.path.abspath(place)), exist_ok=True)
        with open(place, "w", encoding="utf-8", newline="\n") as out:
            _print(run, found, summary, out)
    except OSError as error:
        run.fail(f"{place}: cannot be written: {error.strerror or error}")


def _print(run: Run, found: Sequence[Any], summary: str, out: TextIO) -> None:
    form = run.request.output_format
    if run.request.diff:
        if not run.request.is_terse:
            say(f"Would fix {number_of(run.fixes, 'finding')}.")
    elif run.request.statistics:
        _print_statistics(run, found, summary, out)
    elif form in DOCUMENTS:
        run.document.objects, run.document.has_failed = [*found], run.failures > 0
        text = DOCUMENTS[form](run.document)
        if text or form not in LINES:
            print(text, file=out)
        if form == "grouped":
            _print_fixed(run, out)
    else:
        look = look_for(out, run.request.story, not run.request.output_file)
        print_findings(found, form, look, out)
        _print_fixed(run, out)
        if form == "full" and not run.request.is_terse:
            fixable = fixable_line(*fixable_of(found), run.request.unsafe_fixes)
            print(in_columns(summary + fixable, look), file=out)
    out.flush()


def _print_fixed(run: Run, out: TextIO) -> None:
    """List what was fixed, where that is wanted."""
    if run.request.show_fixes and run.fixed and run.request.output_format != "github":
        print(f"\n{fixes_listed(run.fixed)}\n", file=out)


def _print_statistics(run: Run, found: Sequence[Any], summary: str, out: TextIO) -> None:
    form, summed = run.request.output_format, counts(found, run.request.unsafe_fixes is True)
    if form == "json":
        print(counts_as_json(summed), file=out)
        return
    if summed:
        print(counts_as_text(summed), file=out)
    if form == "full" and not run.request.is_terse:
        safe, either = (sum(each.fixable_count for each in counts(found, is_unsafe)) for is_unsafe in (False, True))
        print(summary + fixable_line(safe, either - safe, run.request.unsafe_fixes), file=out)


def _summary(run: Run, severities: Counter[Severity]) -> str:
    """How much was found and fixed in how many files, in a sentence."""
    unseen = listed(run.unseen)
    files = number_of(run.files, "file") + (f" ({unseen})" if unseen else "")
    fixed = f"Fixed {number_of(run.fixes, 'finding')}. " if run.fixes else ""
    if run.request.fix_only:
        return fixed.strip() or f"Nothing fixed in {files}."
    if not severities:
        return f"{fixed}Nothing {'left' if fixed else 'found'} in {files}."
    counted = [
        f"{count} {severity.word}{'' if count == 1 or severity is Severity.INFORMATION else 's'}"
        for severity in Severity
        if (count := severities[severity])
    ]
    return f"{fixed}Found {', '.join(counted)} in {files}."


@dataclass(slots=True)
class Count:
    """The findings of one rule."""

    code: str
    name: str
    count: int = 0
    fixable: bool = False
    fixable_count: int = 0

    @property
    def mark(self) -> str:
        """All, some or none of them can be fixed."""
        return "[*]" if self.fixable_count == self.count else "[-]" if self.fixable_count else "[ ]"


def counts(found: Iterable[Mapping[str, Any]], is_unsafe: bool) -> list[Count]:
    """The counts of findings, each as JSON has it, the most frequent first; with ``is_unsafe`` any fix counts that is
    not to be chosen by hand.
    """
    by_code: dict[str, Count] = {}
    wanted = ("safe", "unsafe") if is_unsafe else ("safe",)
    for each in found:
        count = by_code.setdefault(each["code"], Count(each["code"], each["name"]))
        count.count += 1
        count.fixable_count += any(_is_made(fix, each["filename"], wanted) for fix in each["fixes"])
        count.fixable = count.fixable_count > 0
    return sorted(by_code.values(), key=lambda count: (-count.count, count.code))


def _is_made(fix: Mapping[str, Any], filename: str, wanted: Sequence[str]) -> bool:
    """Whether ``--fix`` makes it unasked: it leaves other files to their own check."""
    is_own = all(edit["filename"] == filename for edit in fix["edits"])
    return fix["applicability"] in wanted and not fix["manual"] and is_own


def counts_as_text(found: list[Count]) -> str:
    """A row for each rule, and a sentence with the sums; empty where there is nothing."""
    width = max((len(str(count.count)) for count in found), default=0)
    can = any(count.fixable for count in found)
    rows = [f"{count.count:>{width}}\t{count.code}\t{f'{count.mark} ' if can else ''}{count.name}" for count in found]
    return "\n".join(rows)


def counts_as_json(found: list[Count]) -> str:
    """The same as a list of objects."""
    return json.dumps([asdict(count) for count in found], indent=2)


def fixes_listed(fixed: Mapping[str, Counter[tuple[str, str]]]) -> str:
    """How many findings of each rule were fixed, by the name of the file and the code and name of the rule."""
    total = sum(each.total() for each in fixed.values())
    width = len(str(max(max(each.values()) for each in fixed.values())))
    rows = [f"Fixed {number_of(total, 'finding')}:"]
    for name in sorted(fixed):
        rows.append(f"- {name}:")
        rows += (f"    {count:>{width}} × {code} ({rule})" for (code, rule), count in fixed[name].most_common())
    return "\n".join(rows)
