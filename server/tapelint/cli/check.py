"""``tapelint check``: which files, in how many processes, and what is printed at the end.

Findings wait for the last file: one that is checked later may show that a hazard of an earlier one is graver.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any, TextIO

from ..headline import number_of
from ..report.look import look_for
from ..report.notice import Kind, Notice, listed, tally
from ..severity import Severity
from ..source import SourceError
from ..source.reading import decode
from ..source.writing import encoded
from ..workspace import Config, ConfigError, Given
from .adding_ignores import add_ignores
from .adoption.baseline import USUAL, Baseline, BaselineError, read_baseline
from .adoption.counting import as_json, as_text, counts, fixes_listed
from .caching.cached_run import Cache
from .chosen_files import Selection, absence, standard_input
from .documents import DOCUMENTS, LINES, Document, difference, record
from .file_check import check_file, unchecked
from .live.how_far import Progress, is_watched
from .merging import Merged
from .printing import coloured_difference, fixable_line, fixable_of, in_columns, print_findings
from .request import STDIN, Request, with_settings
from .showing import show_files, show_settings
from .signals import Interrupted, interruptible
from .streams import explain, flash, say, tell, writing
from .task import FileResult, Task
from .using_files import caller_tasks

_FEW = 8
"""Up to so many files one process is faster than starting others."""
_SHOWN = 5
"""Entries of a baseline that a warning names."""


class Run:
    """One run: says at once what went wrong, and prints what was found at the end, in the order of the paths."""

    def __init__(self, request: Request, wanted: Given) -> None:
        self.given = wanted
        self.files = 0
        self.severities: Counter[Severity] = Counter()
        self.stats: Counter[str] = Counter()
        self.failures = 0
        self.fixed: dict[str, Counter[tuple[str, str]]] = {}
        self.found_unseen = 0
        self.unseen: Counter[Kind] = Counter()
        self.stdin, self.stdin_name = b"", ""
        self.callers_cut = False
        self._document = Document()
        self.request = request
        self.selection = Selection(wanted, lambda message, _: self.fail(message))
        request = self.request = with_settings(request, self.selection.config(os.curdir) or wanted.over(Config()))
        self.cache = None if request.no_cache else Cache(wanted, request.cache_dir)
        self.progress = Progress(is_shown=is_watched() and not request.manner.is_terse)
        self._merged = Merged()
        self._names: list[str] = []
        self._out: TextIO = sys.stderr if request.is_filter else sys.stdout
        self._counted = 0

    def fail(self, message: str, is_told: bool = False) -> None:
        """Something could not be done: the exit status will be 2. ``is_told``: the document has it already."""
        self.failures += 1
        if not is_told:
            self._document.failures.append(message)
        if not self.request.manner.silent:
            tell("error", message)

    def warn(self, message: str) -> None:
        """Something the user should know of."""
        if not self.request.manner.is_terse:
            tell("warning", message)

    def take(self, answer: FileResult) -> None:
        """Print what there is to say about a file."""
        unseen = tally(answer.notices)
        self.files += not unseen[Kind.NOT_READ]
        self.unseen += unseen
        self.found_unseen += answer.counts
        self.stats += answer.stats
        for message in answer.failures:
            self.fail(message, bool(answer.notifications or answer.listed))
        for message in answer.warnings:
            self.warn(message)
        for notice in answer.notices:
            if notice.trace:
                explain(notice.failure, notice.trace)
            elif notice.is_common and self.request.stats:
                say(notice.failure)
        if answer.coverage:
            say(f"{answer.path}: {answer.coverage}")
        if answer.fixes:
            self.fixed[answer.path] = answer.fixed
        self._merged.add(answer)
        self._names.append(answer.path)
        self._document.records.append(record(answer))
        self._document.notifications += answer.notifications
        if self.request.diff or self.request.is_filter:
            with writing():
                self._print(answer)

    @property
    def fixes(self) -> int:
        """How many fixes were made."""
        return sum(each.total() for each in self.fixed.values())

    def add_caller(self, answer: FileResult) -> None:
        """Take what a file that uses those of the run has found in them."""
        self._merged.add_caller(answer)

    def _print(self, answer: FileResult) -> None:
        if self.request.diff:
            changes = difference(answer.path, answer.before, answer.after)
            sys.stdout.write(coloured_difference(changes, look_for(sys.stdout)))
        if self.request.is_filter and answer.path == self.stdin_name:
            self._pass_on(answer.after)
        sys.stdout.flush()

    def _pass_on(self, text: str) -> None:
        """Write what came from standard input to standard output, in the encoding it came in."""
        try:
            sys.stdout.buffer.write(encoded(self.stdin, text))
        except SourceError as error:
            self.fail(f"{self.stdin_name}: not fixed: {error}")
            sys.stdout.buffer.write(self.stdin)

    def finish(self) -> int:
        """Print what concerns all files; the exit status."""
        flash("")
        if self.callers_cut:
            say("note: the project is too large to look for all files that use those which were checked")
        if self.request.add_ignore:
            return self._add_ignores()
        if self.request.manner.write_baseline:
            return self._write_baseline()
        self._report()
        if self.request.stats:
            for name, count in sorted(self.stats.items()):
                say(f"{name}: {count}")
        return self._status()

    def _report(self) -> None:
        """Print what was found and is not known."""
        baseline = self._baseline()
        is_told = not (self.request.diff or self.request.fix_only)
        found = [*self._merged.printed(self.request.asked_format)] if is_told else []
        self.severities += Counter(each.diagnostic.severity for each, _ in found if each)
        self._counted = sum(each.counts for each, _ in found if each)
        if self.request.manner.statistics:
            found = [(each, text) for each, text in found if each]
        if not self.request.manner.silent:
            self._print_all([text for _, text in found])
        if baseline:
            self._tell_stale(baseline)

    def _status(self) -> int:
        """The exit status."""
        if self.failures:
            return 2
        counted = self.fixes if self.request.diff else self._counted + self.found_unseen
        if self.request.fix_only:
            counted = 0
        if self.request.manner.exit_non_zero_on_fix:
            counted += self.fixes
        return 1 if counted and not self.request.manner.exit_zero else 0

    def _baseline(self) -> Baseline | None:
        """The findings that are known and not printed, if there is a list of them."""
        path = self._baseline_path()
        if not path:
            return None
        try:
            baseline = read_baseline(path)
        except BaselineError as error:
            self.fail(str(error))
            return None
        self._merged.is_known = baseline.knows
        return baseline

    def _baseline_path(self) -> str:
        config = self.selection.config(os.curdir)
        return os.path.relpath(config.baseline) if config and config.baseline else ""

    def _tell_stale(self, baseline: Baseline) -> None:
        """Say which entries of the baseline stand for nothing any more."""
        stale = baseline.stale(self._merged.files)
        if stale:
            shown = ", ".join(f"{name} {code}" for name, code, _ in stale[:_SHOWN])
            more = f" and {len(stale) - _SHOWN} more" if len(stale) > _SHOWN else ""
            self.warn(f"{baseline.path}: not found any more: {shown}{more}; --write-baseline drops them")

    def _write_baseline(self) -> int:
        """Make what was found the baseline, and say how much that is; the exit status."""
        path = self._baseline_path() or USUAL
        cut = self.unseen[Kind.PARSED_IN_PART]
        if cut:
            self.fail(f"{path} has nothing of what {number_of(cut, 'file')} with syntax errors will show without them")
        try:
            known = Baseline(path).write(self._merged.best())
        except BaselineError as error:
            self.fail(str(error))
        else:
            if not self.request.manner.is_terse:
                say(f"Wrote {number_of(known, 'finding')} to {path}.")
        return 2 if self.failures else 0

    def _add_ignores(self) -> int:
        """Silence what was found, and say how much that is; the exit status."""
        done = add_ignores(
            self._merged.places(), {os.path.abspath(name): name for name in self._names}, self.request.reason
        )
        for message in done.warnings:
            self.warn(message)
        for message in done.failures:
            self.fail(message)
        left = f" {number_of(done.left, 'finding')} left." if done.left else ""
        added = f"Added ignore comments for {number_of(done.silenced, 'finding')} in {number_of(done.files, 'file')}."
        say(added + left)
        return (
            2 if self.failures else 1 if (done.left or self.found_unseen) and not self.request.manner.exit_zero else 0
        )

    def _print_all(self, found: list[Any]) -> None:
        """Print the findings to where the user wants them."""
        place = self.request.manner.output_file
        if not place:
            with writing():
                self._print_end(found)
            return
        try:
            os.makedirs(os.path.dirname(os.path.abspath(place)), exist_ok=True)
            with open(place, "w", encoding="utf-8", newline="\n") as self._out:
                self._print_end(found)
        except OSError as error:
            self.fail(f"{place}: cannot be written: {error.strerror or error}")

    def _print_end(self, found: list[Any]) -> None:
        form = self.request.output_format
        if self.request.diff:
            if not self.request.manner.is_terse:
                say(f"Would fix {number_of(self.fixes, 'finding')}.")
        elif self.request.manner.statistics:
            self._print_statistics(found)
        elif form in DOCUMENTS:
            self._document.objects, self._document.has_failed = found, self.failures > 0
            text = DOCUMENTS[form](self._document)
            if text or form not in LINES:
                print(text, file=self._out)
            if form == "grouped":
                self._print_fixed()
        else:
            look = look_for(self._out, self.request.story, not self.request.manner.output_file)
            print_findings(found, form, look, self._out)
            self._print_fixed()
            if form == "full" and not self.request.manner.is_terse:
                fixable = fixable_line(*fixable_of(found), self.request.unsafe_fixes)
                print(in_columns(self._summary() + fixable, look), file=self._out)
        self._out.flush()

    def _print_fixed(self) -> None:
        """List what was fixed, where that is wanted."""
        if self.request.show_fixes and self.fixed and self.request.output_format != "github":
            print(f"\n{fixes_listed(self.fixed)}\n", file=self._out)

    def _print_statistics(self, found: list[Any]) -> None:
        form, summed = self.request.output_format, counts(found, self.request.unsafe_fixes is True)
        if form == "json":
            print(as_json(summed), file=self._out)
            return
        if summed:
            print(as_text(summed), file=self._out)
        if form == "full" and not self.request.manner.is_terse:
            safe, either = (sum(each.fixable_count for each in counts(found, is_unsafe)) for is_unsafe in (False, True))
            fixable = fixable_line(safe, either - safe, self.request.unsafe_fixes)
            print(self._summary() + fixable, file=self._out)

    def interrupted(self, total: int | None) -> None:
        """Say how far the run has come; what was found is printed all the same, and nothing is written."""
        self.request = replace(
            self.request, add_ignore=False, manner=replace(self.request.manner, write_baseline=False)
        )
        how_far = f"after {self.files} of {number_of(total, 'file')}" if total else "before the first file"
        self.fail(f"interrupted {how_far}")

    def _summary(self) -> str:
        unseen = listed(self.unseen)
        files = number_of(self.files, "file") + (f" ({unseen})" if unseen else "")
        fixed = f"Fixed {number_of(self.fixes, 'finding')}. " if self.fixes else ""
        if self.request.fix_only:
            return fixed.strip() or f"Nothing fixed in {files}."
        if not self.severities:
            return f"{fixed}Nothing {'left' if fixed else 'found'} in {files}."
        counts = [
            f"{count} {severity.word}{'' if count == 1 or severity is Severity.INFORMATION else 's'}"
            for severity in Severity
            if (count := self.severities[severity])
        ]
        return f"{fixed}Found {', '.join(counts)} in {files}."


def run(request: Request) -> int:
    """Check what is asked for; the exit status."""
    try:
        os.getcwd()
        outcome = Run(request, request.given)
    except ConfigError as error:
        tell("error", str(error))
        return 2
    except FileNotFoundError as error:
        tell("error", f"the current folder cannot be used: {error.strerror}")
        return 2
    if request.show != "findings":
        return _show(outcome)
    try:
        return _checked(outcome)
    finally:
        if outcome.cache:
            outcome.cache.save()


def _checked(outcome: Run) -> int:
    """Check the files, and print what was found; the exit status."""
    come: dict[int, FileResult] = {}
    tasks: list[Task] = []
    try:
        with interruptible():
            tasks += _tasks(outcome)
            with closing(_answers(outcome, tasks, come)) as answers:
                for answer in _settled(tasks, answers):
                    outcome.take(answer)
            if not outcome.request.diff:
                _add_callers(outcome, tasks)
    except Interrupted as signal:
        for number in sorted(come):
            outcome.take(come[number])
        outcome.interrupted(len(tasks))
        outcome.finish()
        return signal.status
    return outcome.finish()


def _show(run: Run) -> int:
    """Print what would be checked, or how its first file would be; the exit status."""
    tasks = list(_tasks(run))
    if run.request.show == "files":
        show_files(task.path for task in tasks)
    elif tasks:
        show_settings(tasks[0].path, tasks[0].config, run.given.finds_files)
    return 2 if run.failures else 0


def _add_callers(run: Run, tasks: list[Task]) -> None:
    """Execute the files that use those of the run, and add what they find there."""
    if not any(task.text is None and task.config.callers for task in tasks):
        return
    using, run.callers_cut = caller_tasks(tasks)
    with closing(_answers(run, using, {})) as answers:
        for answer in answers:
            run.add_caller(answer)


def _settled(tasks: list[Task], answers: Iterator[FileResult]) -> Iterator[FileResult]:
    """The answers, and where a file was fixed that an earlier one has shown findings in, that one checked again."""
    stale: list[tuple[Task, FileResult]] = []
    fixed: set[str] = set()
    for task, answer in zip(tasks, answers, strict=False):
        if answer.fixes and task.writes:
            fixed.add(os.path.abspath(answer.path))
        others = {os.path.abspath(each.diagnostic.filename) for each in answer.found if not each.is_own}
        if task.writes and task.fix != "no" and others:
            stale.append((task, answer))
        else:
            yield answer
    for task, answer in stale:
        if any(os.path.abspath(each.diagnostic.filename) in fixed for each in answer.found if not each.is_own):
            answer.found = check_file(replace(task, fix="no")).found
        yield answer


def _tasks(run: Run) -> Iterator[Task]:
    """The files in the order of the command line, each once, each with the configuration that counts for it."""
    request = run.request
    for name, text in _files(run):
        config = run.selection.config(name)
        if config is not None:
            writes = text is None and not request.diff
            yield Task(name, config, request.asked_format, text, request.fix, writes, request.stats, run.given)


def _files(run: Run) -> Iterator[tuple[str, str | None]]:
    seen: set[str] = set()
    for named in run.request.paths:
        if named == STDIN:
            name = run.request.stdin_filename or "<stdin>"
            run.stdin_name = name
            try:
                run.stdin = standard_input()
                if not run.selection.is_left_out(name):
                    yield name, decode(run.stdin)
                elif run.request.is_filter:
                    sys.stdout.buffer.write(run.stdin)
            except SourceError as error:
                task = Task(name, Config(), run.request.output_format)
                run.take(unchecked(task, Notice(Kind.NOT_READ, name, f"Cannot be read: {error}")))
            continue
        if not os.path.lexists(named):
            run.fail(f"{named or repr(named)}: {absence(named)}")
            continue
        is_empty, complained = True, run.selection.complained
        for file in run.selection.files(named):
            is_empty = False
            if os.path.abspath(file) not in seen:
                seen.add(os.path.abspath(file))
                yield file, None
        if is_empty and run.selection.complained == complained and not run.selection.is_left_out(named):
            run.warn(f"{named}: no Python files here, or all are excluded")


def _answers(run: Run, tasks: list[Task], come: dict[int, FileResult]) -> Generator[FileResult, None, None]:
    """The answers in the order of the tasks; ``come`` holds those that have come before their turn."""
    compute = partial(_computed, run, len(tasks))
    return run.cache.answers(tasks, compute, come) if run.cache else compute(tasks, come)


def _computed(
    run: Run, total: int, tasks: Sequence[Task], come: dict[int, FileResult]
) -> Generator[FileResult, None, None]:
    """The answers of analyses that are made now; those of the others of ``total`` are known."""
    run.progress.begin(len(tasks), total - len(tasks))
    jobs = min(run.request.jobs or os.cpu_count() or 1, len(tasks))
    if jobs < 2 or len(tasks) <= _FEW:
        for task in tasks:
            answer = check_file(task)
            run.progress.take(answer)
            yield answer
        return
    from .pool import in_processes

    yield from in_processes(tasks, jobs, come, run.progress.take)
