"""Print what each mechanism of the engine costs, and what is lost without it.

    make rent DIR=folder                     # a folder with repositories (plain files)
    python -m tools.rent --bundle a --bundle b ...   # these switched off at once
    python -m tools.rent.executed folder     # which functions no check of it runs

For each mechanism (``mechanisms.py``) everything is checked again in a process in which it is switched off:

- statements of its own modules, and what share of the processor time of DIR goes when it does;
- literate programs (tests/mdtest, tests/corpus, examples) whose claims no longer hold;
- cases (--cases, a folder with */*/meta.json and bad.py): findings above hint at the lines of the hazard;
- findings above hint in the files of DIR that go backward: lost and new;
- injected mistakes (--injected, what a run over DIR has written): those found that are found no more.

What a mechanism is worth is what it finds in code that it was not written for: the literate programs of its own page
do not count for it.
"""

from __future__ import annotations

import argparse
import ast
import json
import multiprocessing
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "mdtest")]
sys.path.append(str(ROOT / "server"))

from tools.lock.__main__ import is_in_part, programs  # noqa: E402

from mdjudge import complaints  # noqa: E402

from . import mechanisms  # noqa: E402
from .mechanisms import MECHANISMS  # noqa: E402

BY_NAME = {each.name: each for each in MECHANISMS}

NEAR = 3
"""Rows between a finding and the place of a hazard at most."""
GOES_BACKWARD = re.compile(rb"\.backward\(|training_step")

Mutant = dict[str, Any]
"""A record of a run that has injected mistakes."""
Found = tuple[str, str, int, str]
"""A finding: its file, its code, its row and its severity."""


@dataclass
class Result:
    """What was found with some mechanisms off."""

    off: tuple[str, ...]
    failing: list[str] = field(default_factory=list)
    cases: dict[str, list[Found]] = field(default_factory=dict)
    findings: list[Found] = field(default_factory=list)
    injected: list[str] = field(default_factory=list)
    seconds: float = 0.0
    """Of processor time for the files of DIR."""


def main() -> int:
    """Measure and print; the exit status."""
    options = _options()
    mechanisms.import_all()
    if options.bundle:
        runs: list[tuple[str, ...]] = [tuple(options.bundle)]
    else:
        runs = [(name,) for name in BY_NAME if not options.only or name in options.only]
    runs.insert(0, ())
    results: list[Result] = []
    context = multiprocessing.get_context("fork")
    with context.Pool(options.jobs, maxtasksperchild=1) as pool:
        for text in pool.imap(partial(_measured, options), runs, chunksize=1):
            results.append(Result(**json.loads(text)))
            if len(results) == 1:
                _print_head(results[0])
            else:
                _print_row(results[0], results[-1])
            sys.stdout.flush()
    if options.out:
        options.out.write_text(json.dumps([asdict(each) for each in results], indent=1))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="rent", description="Say what each mechanism of the engine is worth.")
    parser.add_argument("folder", type=Path, nargs="?", help="repositories, each a folder of plain files")
    parser.add_argument("--cases", type=Path, help="reduced cases: */*/meta.json with bad.py")
    parser.add_argument("--injected", type=Path, help="injected mistakes in DIR, with what was found of them")
    parser.add_argument("--only", action="append", help="only these mechanisms")
    parser.add_argument("--bundle", action="append", help="these mechanisms, off at once")
    parser.add_argument("--every", type=int, default=1, help="about every Nth literate program only; 0: none")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--out", type=Path, help="where all that was found is written, as JSON")
    return parser.parse_args()


def _measured(options: argparse.Namespace, off: tuple[str, ...]) -> str:
    """Everything checked in this process with some mechanisms off; a Result as JSON."""
    for name in off:
        mechanisms.switch_off(BY_NAME[name])
    result = Result(off)
    if options.every:
        blocks = (block for block in programs() if is_in_part(block.name, options.every))
        result.failing = [block.name for block in blocks if not block.name.startswith("fuzz::") and _fails(block)]
    if options.cases:
        for meta in sorted(options.cases.glob("*/*/meta.json")):
            result.cases[meta.parent.name] = [*_near_the_hazard(meta)]
    if options.folder:
        begin = time.process_time()
        for repository, files in training_files(options.folder):
            result.findings += [found for file in files for found in _findings(repository, file)]
        result.seconds = time.process_time() - begin
    if options.injected:
        result.injected = [*_injected(options.folder, json.loads(options.injected.read_text()))]
    return json.dumps(asdict(result))


def _fails(block: Any) -> bool:
    try:
        return bool(complaints(block))
    except Exception:
        return True


def _near_the_hazard(meta: Path) -> Iterator[Found]:
    expected = json.loads(meta.read_text())["expect"]
    rows = {*expected["hazard_lines"], expected["root_line"]}
    return (found for found in _findings(meta.parent, "bad.py") if found[2] in rows)


def training_files(folder: Path) -> Iterator[tuple[Path, list[str]]]:
    """By repository the files that go backward, or train in a framework."""
    for repository in sorted(path for path in folder.iterdir() if path.is_dir()):
        texts = ((path, path.read_bytes()) for path in sorted(repository.rglob("*.py")))
        yield repository, [str(path.relative_to(repository)) for path, text in texts if GOES_BACKWARD.search(text)]


def _findings(folder: Path, name: str, text: str | None = None) -> list[Found]:
    """What the command line finds in a file, started in its folder, above hints; ``text`` is what it would hold."""
    from tapelint.cli import file_check
    from tapelint.cli.request import BRIEF
    from tapelint.cli.task import Task
    from tapelint.workspace import Config

    os.chdir(folder)
    file_check.begin_run()
    done = file_check.check_file(Task(name, Config(), BRIEF, text))
    return [
        (name, each.diagnostic.code, each.diagnostic.span.row, each.diagnostic.severity.word)
        for each in done.found
        if each.is_own and each.diagnostic.severity.word != "hint"
    ]


def _injected(folder: Path, known: Mutant) -> Iterator[str]:
    """The mistakes that are found at their place, of those that were found before."""
    for mutant in known["chosen"]:
        place = folder / mutant["repo"].replace("/", "+", 1)
        before = known["originals"].get(f"{mutant['repo']}:{mutant['file']}", {}).get("found")
        now = known["mutants"][mutant["id"]].get("found")
        wanted = _new_near(mutant, before, now) if before is not None and now is not None else Counter()
        if wanted:
            text = _edited((place / mutant["file"]).read_text(encoding="utf-8"), mutant["edits"])
            if wanted & Counter((code, row) for _, code, row, _ in _findings(place, mutant["file"], text)):
                yield mutant["id"]


def _new_near(mutant: Mutant, before: list[Mutant], now: list[Mutant]) -> Counter[tuple[str, int]]:
    """The findings that a mistake has brought near its place."""
    old = {(each["code"], each["message"]) for each in before}
    new = [each for each in now if (each["code"], each["message"]) not in old]
    near = [
        (each["code"], each["row"])
        for each in new
        if any(abs(row - place) <= NEAR for row in _rows(each) for place in mutant["places"])
    ]
    return Counter(near)


def _rows(found: Mutant) -> Iterator[int]:
    """The row of a finding and of the steps of its story."""
    yield found["row"]
    yield from (row for _, row in found["story"])


def _edited(text: str, edits: Iterable[tuple[int, str, str | None]]) -> str:
    """The text with the rows that a mistake changes: each edit has a row, what stands there, and what will; None: the
    row goes.
    """
    rows: list[str | None] = [*text.split("\n")]
    for row, _, new in edits:
        rows[row - 1] = new
    return "\n".join(row for row in rows if row is not None)


def _statements(modules: Iterable[str]) -> int:
    """The statements of modules, without imports and docstrings."""
    count = 0
    for module in modules:
        path = ROOT / "server" / "tapelint" / f"{module.replace('.', '/')}.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            count += isinstance(node, ast.stmt) and not is_text and not isinstance(node, (ast.Import, ast.ImportFrom))
    return count


def _print_head(base: Result) -> None:
    found = sum(map(bool, base.cases.values()))
    print(f"with all on: {len(base.failing)} literate programs fail, {found} of {len(base.cases)} cases are found,")
    print(f"{len(base.findings)} findings, {len(base.injected)} injected mistakes, {base.seconds:.0f} s\n")
    print(f"{'off':44} statements  time  literate  cases  lost   new  injected")


def _print_row(base: Result, now: Result) -> None:
    statements = _statements(module for name in now.off for module in BY_NAME[name].modules)
    time_saved = f"{now.seconds / base.seconds:.2f}" if base.seconds else "-"
    failing = len({*now.failing} - {*base.failing})
    cases = sum(bool(found) and not now.cases[name] for name, found in base.cases.items())
    before, after = Counter(map(tuple, base.findings)), Counter(map(tuple, now.findings))
    lost, new = (before - after).total(), (after - before).total()
    injected = len({*base.injected} - {*now.injected})
    name = now.off[0] if len(now.off) == 1 else f"{len(now.off)} at once"
    print(f"{name:44} {statements:10} {time_saved:>5} {failing:9} {cases:6} {lost:5} {new:5} {injected:9}")


if __name__ == "__main__":
    sys.exit(main())
