"""What a run does about findings that are known: it leaves them out, lists them, or writes a comment for each."""

from __future__ import annotations

import os

from ...headline import number_of
from ...report.notice import Kind
from ..outcome import Run
from ..streams import say
from .adding_ignores import add_ignores
from .baseline import USUAL, Baseline, BaselineError, read_baseline

_SHOWN = 5
"""Entries of a baseline that a warning names."""


def leave_out_known(run: Run) -> Baseline | None:
    """Have the findings that are known not printed; the list of them, if there is one."""
    path = _path(run)
    if not path:
        return None
    try:
        baseline = read_baseline(path)
    except BaselineError as error:
        run.fail(str(error))
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
    except BaselineError as error:
        run.fail(str(error))
    else:
        if not run.request.manner.is_terse:
            say(f"Wrote {number_of(known, 'finding')} to {path}.")
    return 2 if run.failures else 0


def ignore_all(run: Run) -> int:
    """Silence what was found by comments, and say how much that is; the exit status."""
    names = {os.path.abspath(name): name for name in run.names}
    done = add_ignores(run.merged.places(), names, run.request.reason)
    for message in done.warnings:
        run.warn(message)
    for message in done.failures:
        run.fail(message)
    left = f" {number_of(done.left, 'finding')} left." if done.left else ""
    say(f"Added ignore comments for {number_of(done.silenced, 'finding')} in {number_of(done.files, 'file')}.{left}")
    if run.failures:
        return 2
    return 1 if (done.left or run.found_unseen) and not run.request.manner.exit_zero else 0


def _path(run: Run) -> str:
    config = run.selection.config(os.curdir)
    return os.path.relpath(config.baseline) if config and config.baseline else ""
