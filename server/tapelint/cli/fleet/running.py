"""The command: which repositories are still to be done, and what is said of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing

from ..signals import Interrupted, interruptible
from ..streams import say, tell
from .engines import ENGINES, EngineMissing, Work
from .records import Records, RepositoryRecord
from .repository import Bounds

MEGABYTE = 1 << 20


def run(
    listed: str,
    output: str,
    engine: str,
    jobs: int | None,
    address: str | None,
    seconds: float,
    megabytes: int,
) -> int:
    """Check the repositories that the file ``listed`` names, one in a line; a record of each goes to ``output``."""
    try:
        places = tuple(dict.fromkeys(_named(listed)))
        records = Records(output)
    except OSError as error:
        tell("error", f"{error.filename}: {error.strerror}")
        return 2
    left = tuple(each for each in places if each not in records.done)
    if len(left) < len(places):
        say(f"{len(places) - len(left)} of {len(places)} repositories are in {output} already.")
    tally = _Tally(len(left))
    work = Work(left, Bounds(seconds, megabytes * MEGABYTE), jobs, address)
    try:
        with interruptible(), closing(ENGINES[engine](work)) as coming:
            for record in coming:
                records.add(record)
                tally.take(record)
    except EngineMissing as error:
        tell("error", str(error))
        return 2
    except Interrupted as signal:
        tell("error", f"interrupted after {tally.done} of {tally.count} repositories")
        return signal.status
    finally:
        records.close()
    say(tally.sentence)
    return 2 if tally.errors else 1 if tally.findings else 0


def _named(listed: str) -> Iterator[str]:
    with sys.stdin if listed == "-" else open(listed, encoding="utf-8") as file:
        for line in file:
            name = line.strip()
            if name and not name.startswith("#"):
                yield name


class _Tally:
    """What came of the repositories."""

    def __init__(self, count: int) -> None:
        self.count, self.done, self.files, self.findings, self.errors, self.lost = count, 0, 0, 0, 0, 0

    def take(self, record: RepositoryRecord) -> None:
        self.done += 1
        self.files += len(record.files)
        self.findings += sum(len(each.findings) for each in record.files)
        self.lost += sum(count for outcome, count in record.outcomes.items() if outcome != "checked")
        if record.error is not None:
            self.errors += 1
            tell("error", record.error)
        if sys.stderr.isatty():
            say(f"{self.done}/{self.count} {record.repository}: {len(record.files)} files, {record.seconds:.1f} s")

    @property
    def sentence(self) -> str:
        lost = f", {self.lost} files given up" if self.lost else ""
        errors = f", {self.errors} could not be read" if self.errors else ""
        return f"{self.done} repositories, {self.files} files, {self.findings} findings{lost}{errors}."
