"""``python -m tools.cures --count 2000 --seed 1``: cure programs that raise, run what comes out, count.

The programs are the blocks of the literate tests and of the corpus that raise, ``--count`` random programs of the
fuzzer that raise, and the scripts in ``--folder``.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import torch
import torch._dynamo
from tools.fuzz.catalogue import by_result
from tools.fuzz.pool import each

from .curing import Cured, End, cure
from .figures import COLUMNS, Figures
from .programs import Program, random_program, scripts, written

SECONDS = 120
"""What a program and its cures may take."""


def main() -> int:
    """Print the figures and the programs that fail; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.cures", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the first random program")
    parser.add_argument("--count", type=int, default=300, help="how many random programs that raise")
    parser.add_argument("--folder", type=Path, help="scripts to cure as well")
    parser.add_argument("--scripts", default="*.py", metavar="PATTERN", help="the names of those in the folder")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--only", help="programs whose name has this in it; no random ones")
    parser.add_argument("--text", action="store_true", help="print the text of those that fail as well")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    programs = [*written(), *(scripts(chosen.folder, chosen.scripts) if chosen.folder else ())]
    if chosen.only:
        programs = [program for program in programs if chosen.only in program.name]
    count = 0 if chosen.only else chosen.count
    figures: dict[str, Figures] = {}
    failing = []
    for cured in itertools.chain(all_cured(programs, chosen.jobs), all_random(chosen.seed, count, chosen.jobs)):
        figures.setdefault(cured.program.kind, Figures()).add(cured)
        if cured.end not in (End.CLEAN, End.RUNS):
            failing.append(cured)
    for cured in sorted(failing, key=lambda one: (one.end.value, one.program.kind, one.program.name)):
        print(f"{cured.end.value}: {cured.program.kind}: {cured.program.name}: {cured.error}")
        for step in cured.steps:
            print(f"    {step.title}  <- {step.error}")
        if chosen.text:
            print(cured.program.text)
    print(COLUMNS)
    for kind, row in figures.items():
        print(f"{kind:10}{row}")
    return 0


def all_cured(programs: Iterable[Program], jobs: int) -> Iterator[Cured]:
    """What becomes of each, as they come; one that takes too long, or ends its process, counts as raising."""
    for program, made in each(cure, programs, jobs, SECONDS):
        yield made or Cured(program, End.RAISES, "takes too long")


def all_random(seed: int, count: int, jobs: int) -> Iterator[Cured]:
    """What becomes of the first ``count`` random programs that raise, from ``seed`` on."""
    if not count:
        return
    by_result()
    found = each(random_cured, itertools.count(seed), jobs, SECONDS)
    yield from itertools.islice((made for _, made in found if made is not None and made.end is not End.RUNS), count)


def random_cured(seed: int) -> Cured | None:
    """What becomes of the program of a seed; None if it does not raise."""
    program = random_program(seed)
    return cure(program) if program is not None else None


if __name__ == "__main__":
    sys.exit(main())
