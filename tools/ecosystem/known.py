"""The run over all repositories of the list: what has appeared, what has vanished, and what was said of it.

+ OWNER/NAME: a.py:3: error TL201 message               not in the list
- OWNER/NAME: a.py:3: error TL201, false: reason        in the list, and not reported any more
~ OWNER/NAME: a.py:3: warning TL201 is an error now, false: reason
! OWNER/NAME: why nothing, or not everything, was seen
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from tapelint.severity import Severity

from .checked import TIMEOUT, Checked, Failed, check
from .clones import Unreachable, tree
from .pins import Pin, Sample, sample
from .verdicts import FINDINGS, Comparison, Judged, Known, Verdict, compare, file_of, load, text_of, updated


@dataclass(frozen=True, slots=True)
class Look:
    """One repository after a run; ``trouble`` says why there is nothing to compare."""

    pin: Pin
    sample: Sample = Sample((), 0)
    checked: Checked = field(default_factory=Checked)
    trouble: str = ""
    is_skipped: bool = False


@dataclass(frozen=True, slots=True)
class Means:
    """How a run gets at the repositories: a folder of clones, and for each of them so many seconds."""

    clones: Path | None = None
    timeout: float = TIMEOUT
    # so many repositories at the same time
    jobs: int = 1


def look(pin: Pin, means: Means) -> Look:
    """Get the files of a repository and check them."""
    try:
        with tree(pin, means.clones) as folder:
            files = sample(pin, folder)
            return Look(pin, files, check(folder, files.files, means.timeout))
    except Unreachable as error:
        return Look(pin, trouble=f"skipped, it cannot be fetched: {error}", is_skipped=True)
    except Failed as error:
        return Look(pin, trouble=str(error))


def looks(pins: Sequence[Pin], means: Means) -> Iterator[Look]:
    """Look at the repositories, several at the same time; the results come in the order of the list."""
    if means.jobs == 1:
        yield from (look(pin, means) for pin in pins)
        return
    with ProcessPoolExecutor(means.jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(partial(look, means=means), pins)


def run(pins: Sequence[Pin], means: Means, *, update: bool = False, folder: Path = FINDINGS) -> int:
    """Look at all repositories and print what differs from the list, which is written anew if ``update``.

    The exit status: 1 if findings have appeared or vanished, if one that was called false is an error now, or if
    tapelint itself has failed; 2 if no repository could be had.
    """
    counted: Counter[str] = Counter()
    seconds, is_changed, skipped = 0.0, False, 0
    for each in looks(pins, means):
        print(f"{each.pin.name}: {_progress(each)}", file=sys.stderr, flush=True)
        path = file_of(each.pin, folder)
        before = load(path)
        compared = compare(before.findings, each.checked.findings) if not each.trouble else Comparison()
        for line in lines(each, compared):
            print(line, flush=True)
        skipped += each.is_skipped
        seconds += each.checked.seconds
        failed = bool(each.checked.faults) or bool(each.trouble) and not each.is_skipped
        if update and not each.trouble:
            _write(path, updated(each.checked, each.sample, compared))
            is_changed |= failed
        else:
            is_changed |= failed or counts(compared)
        counted += Counter({"appeared": len(compared.appeared), "vanished": len(compared.vanished)})
        counted["stayed"] += len(compared.stayed)
    listed = ", ".join(f"{counted[what]} {what}" for what in ("stayed", "appeared", "vanished"))
    missing = f", {skipped} skipped" if skipped else ""
    print(f"{len(pins)} repositories{missing}; findings: {listed}; {seconds:.0f} seconds of processor time")
    return 2 if skipped == len(pins) else int(is_changed)


def counts(compared: Comparison) -> bool:
    """Whether a comparison makes the run fail."""
    worse = (new.severity == Severity.ERROR.word and old.verdict is Verdict.FALSE for old, new in compared.regraded)
    return bool(compared.appeared or compared.vanished) or any(worse)


def lines(each: Look, compared: Comparison) -> Iterator[str]:
    """What there is to say of a repository."""
    name = each.pin.name
    if each.trouble:
        yield f"! {name}: {each.trouble}"
    for fault in each.checked.faults:
        yield f"! {name}: {fault}"
    for new in compared.appeared:
        yield f"+ {name}: {new.place}: {new.severity} {new.code} {new.message}"
    for old in compared.vanished:
        yield f"- {name}: {old.place}: {old.severity} {old.code}, {_said(old)}"
    for old, new in compared.regraded:
        yield f"~ {name}: {new.place}: {old.severity} {old.code} is {new.severity} now, {_said(old)}"


def _said(old: Judged) -> str:
    return old.verdict.value + (f": {old.why}" if old.why else "")


def _progress(each: Look) -> str:
    if each.trouble:
        return each.trouble
    found = Counter(listed.severity for listed in each.checked.findings)
    said = ", ".join(f"{number} {severity}" for severity, number in sorted(found.items())) or "nothing found"
    return f"{len(each.sample.files)} of {each.sample.total} files, {said}, {each.checked.seconds:.0f} s"


def _write(path: Path, what: Known) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text_of(what), encoding="utf-8")
