"""Random edits of real files: after each one the analysis that goes on must say what a fresh one says.

    make soak DIR=folder COUNT=10000 SEED=1

DIR has the clones of ``tools/bench/sessions.txt``. Of each file one line after the other is changed, deleted, cut,
copied or put in, in the text before or in the first one. Prints how many were compared, the processor time of both and
the memory of the process as it goes. Exit status 1 at the first difference, which is left in a temporary file.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from tools.bench.sessions import listed
from tools.soak.edits import changed

from tapelint.analysis import AnalysisCache, Report, analyse
from tapelint.cli import collect_rarely
from tapelint.workspace import Resolver

EVERY = 100


class Document:
    """A file that is edited, with what its last analysis knew."""

    def __init__(self, path: Path) -> None:
        self.path, self.first = str(path), path.read_text(encoding="utf-8")
        self.text, self.memory = self.first, AnalysisCache(persistent=True)

    def analysed(self, memory: AnalysisCache | None) -> Report:
        """What is reported of the text, as the server would ask for it."""
        find = Resolver()
        return analyse(self.text, self.path, resolve=find, memory=memory, is_imported=find.is_imported)


def seen(report: Report) -> object:
    """All that a user can see of a report."""
    return (
        *(report.diagnostics, report.elsewhere, report.hidden, report.notices),
        *(report.stats, report.reach, report.imagined, report.trained, sorted(report.imports)),
    )


def resident() -> float:
    """The memory that this process holds, in MB."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def rounds(documents: list[Document], chance: random.Random) -> Iterator[tuple[Document, float, float, bool]]:
    """One edit after the other: the document, the processor seconds of both analyses, and whether they agree."""
    while True:
        for document in documents:
            document.text = changed(chance.choice([document.text, document.first]), chance)
            begin = time.process_time()
            again = seen(document.analysed(document.memory))
            between = time.process_time()
            fresh = seen(document.analysed(None))
            yield document, between - begin, time.process_time() - between, again == fresh


def main() -> int:
    """Edit until it is enough; the exit status."""
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    collect_rarely()
    documents = [Document(path) for path, _ in listed(options.folder) if path.exists()]
    if not documents:
        parser.error(f"none of the files is in {options.folder}")
    for document in documents:
        document.analysed(document.memory)
    again = fresh = 0.0
    for number, (document, first, second, agrees) in zip(count(1), rounds(documents, random.Random(options.seed))):
        again, fresh = again + first, fresh + second
        if not agrees:
            left = Path(tempfile.gettempdir(), "soak-difference.py")
            left.write_text(document.text, encoding="utf-8")
            print(f"edit {number}: {document.path} differs, see {left}")
            return 1
        if number % EVERY == 0 or number == options.count:
            print(f"{number:6} edits agree; {again:.0f} s, anew {fresh:.0f} s; {resident():.0f} MB", flush=True)
        if number >= options.count:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
