"""Print a digest of what the analyser says of many programs, one line a program and one for all.

    make lock                          # digests of every program, then the total
    python -m tools.lock --against F   # compare with digests written before; exit status 1 where one differs
    python -m tools.lock --against F --every 8   # the same for about every eighth program, while work is going on

The programs are the blocks of the literate tests and of the corpus, the examples and random programs of the fuzzer
(which need torch to be written, not to be analysed; without torch they are left out, and the last line says so). A
digest covers the diagnostics with their stories, the fixes with their edits, the counters and what hovers say at some
of the calls and names: a commit that is only about names, places or types keeps the total.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "mdtest")]
sys.path.append(str(ROOT / "server"))  # a tapelint that is installed comes first

from mdjudge import analysed  # noqa: E402
from mdspec import Block, beside, read_programs, read_script  # noqa: E402
from tapelint.analysis import Report, fixes  # noqa: E402
from tapelint.hover import Hovers  # noqa: E402
from tapelint.severity import Severity  # noqa: E402
from tapelint.stubs import PROGRAMS  # noqa: E402

SEEDS = range(1, 301)
"""The random programs: enough to use every statement that the fuzzer can write some dozens of times."""


HOVERS = 6
"""How many places of a program are hovered."""


def main() -> int:
    """Print the digests; the exit status."""
    parser = argparse.ArgumentParser(prog="lock", description="Digest what the analyser says of many programs.")
    parser.add_argument(
        "--against", type=Path, metavar="FILE", help="digests printed before; only differences are shown"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take about every Nth program only")
    options = parser.parse_args()
    blocks = [block for block in programs() if is_in_part(block.name, options.every)]
    digests: dict[str, str] = {}
    with ProcessPoolExecutor(options.jobs) as pool:
        for name, digest in zip((block.name for block in blocks), pool.map(digest_of, blocks, chunksize=20)):
            digests[name] = digest
    digests["total"] = hashlib.sha256("".join(f"{k} {v}\n" for k, v in digests.items()).encode()).hexdigest()
    if options.against is None:
        for name, digest in digests.items():
            print(digest, name)
        return 0
    return compared(digests, options.against.read_text(encoding="utf-8"), options.every > 1)


def is_in_part(name: str, every: int) -> bool:
    """Whether a program is one of every few: by its name, so that a new program moves no other in or out."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % every == 0


def compared(digests: dict[str, str], printed: str, in_part: bool) -> int:
    """Print what differs from digests printed before, ``in_part`` only of the programs looked at; the exit status."""
    before = {name: digest for digest, _, name in (line.partition(" ") for line in printed.splitlines())}
    if in_part:
        del digests["total"]
        before = {name: digest for name, digest in before.items() if name in digests}
    changed = [name for name in before | digests if before.get(name) != digests.get(name)]
    for name in changed:
        print("gone:" if name not in digests else "new:" if name not in before else "differs:", name)
    if not changed:
        print(f"{len(before.keys() - {'total'})} programs, nothing differs: {digests.get('total', 'in part')}")
    return 1 if changed else 0


def programs() -> Iterator[Block]:
    """Every program, as a block with a name of its own."""
    yield from read_programs()
    for path in sorted((ROOT / "examples").glob("*.py")):
        yield read_script(path)
    try:
        from tools.fuzz.program import program
    except ImportError:
        print("torch is not installed: no random programs", file=sys.stderr)
        return
    for seed in SEEDS:
        yield Block(ROOT / f"fuzz_{seed}.py", f"fuzz::{seed}", 0, program(seed), preamble="")


def digest_of(block: Block) -> str:
    """The digest of what is said of one program. Its place, folders and the names of counters are left out of it."""
    with beside(block) as main:
        report = analysed(block, main if block.files else None)
        said = repr([*statements(report)])
        for place in (block.file.with_suffix(""), main.parent, PROGRAMS, ROOT):
            said = said.replace(str(place), "")
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def statements(report: Report) -> Iterator[object]:
    """All that a user can see of a report."""
    for diagnostic in report.diagnostics:
        seen = astuple(diagnostic)[:-1]  # whether it is latent is in its message
        yield tuple(part.word if isinstance(part, Severity) else part for part in seen)
        yield from map(astuple, fixes(report, diagnostic))
    yield tuple(report.stats.values())
    yield from hovers(report)


def hovers(report: Report) -> Iterator[object]:
    """What is shown at the first of every few expressions."""
    known = Hovers(report)
    places = [
        report.source.span(node)
        for node in ast.walk(report.source.tree)
        if isinstance(node, (ast.Call, ast.Name, ast.AugAssign, ast.keyword))
    ]
    for span in places[:: max(len(places) // HOVERS, 1)][:HOVERS]:
        found = known.at(span.row, span.column)
        yield None if found is None else astuple(found)


if __name__ == "__main__":
    sys.exit(main())
