"""What is left of broken files: of our recovery (source/recovery.py), and of parso, which jedi brings along.

    PYTHONPATH=. python -m tools.bench.recovery --count 300 FOLDER...

Each file is one of those that mention torch and parse, broken in one place as an editor breaks it: a bracket is
missing, a row ends in its midst, a row is gone. Counted are the simple statements of the whole file that stand on other
rows than the damage: which of them are still there, and which of these still stand in the same functions and classes.
Seconds are processor time.
"""

from __future__ import annotations

import argparse
import ast
import random
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parso.grammar import load_grammar

from tapelint.source.recovery import parse_module, recover

Place = tuple[str, ...]
"""The functions and classes around a statement, from outside to inside."""
_BRACKETS = "()[]{}"
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass
class Tally:
    """What one parser left, summed over files."""

    kept: int = 0
    placed: int = 0
    seconds: float = 0.0
    # files of which nothing is left
    lost: int = 0


@dataclass
class Measured:
    """All that was measured: how many statements there were, and what is left by parser."""

    files: int = 0
    statements: int = 0
    tallies: dict[str, Tally] = field(default_factory=dict)


def simple(tree: ast.AST, place: Place = ()) -> Iterator[tuple[int, str, Place]]:
    """The simple statements below a node: row, text in one form, and place."""
    for child in ast.iter_child_nodes(tree):
        if not isinstance(child, ast.stmt):
            inner = place
        elif hasattr(child, "body"):
            inner = (*place, child.name) if isinstance(child, _NAMED) else place
        else:
            yield child.lineno, ast.dump(child), place
            continue
        yield from simple(child, inner)


def of_parso(node: Any, place: Place = ()) -> Iterator[tuple[int, str, Place]]:
    """The same of parso's tree, those among broken ones included."""
    for child in getattr(node, "children", ()):
        if child.type == "simple_stmt":
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    statements = ast.parse(child.get_code(include_prefix=False).strip()).body
            except SyntaxError:
                continue
            for statement in statements:
                yield child.start_pos[0], ast.dump(statement), place
        elif child.type in ("funcdef", "classdef"):
            yield from of_parso(child, (*place, child.name.value))
        else:
            yield from of_parso(child, place)


def ours(text: str) -> list[tuple[int, str, Place]]:
    """What our recovery leaves."""
    tree, _ = recover(text.split("\n"))
    return [*simple(tree)] if tree else []


def parsos(text: str) -> list[tuple[int, str, Place]]:
    """What parso leaves, without its cache."""
    return [*of_parso(load_grammar().parse(text, error_recovery=True, cache=False))]


def parse_only(text: str) -> None:
    """What parso's parser itself takes; its statements are counted apart."""
    load_grammar().parse(text, error_recovery=True, cache=False)


def recover_only(text: str) -> None:
    recover(text.split("\n"))


def broken(text: str, chance: random.Random) -> tuple[str, int] | None:
    """The text broken in one place, and the row of that; None where it still parses."""
    rows = text.split("\n")
    row = chance.choice([at for at, line in enumerate(rows) if line.strip() and not line.strip().startswith("#")])
    line = rows[row]
    match chance.choice(["bracket", "end", "row"]):
        case "bracket" if found := [at for at, sign in enumerate(line) if sign in _BRACKETS]:
            at = chance.choice(found)
            rows[row] = line[:at] + line[at + 1 :]
        case "row":
            rows[row] = ""
        case _:
            indent = len(line) - len(line.lstrip())
            rows[row] = line[: chance.randint(indent + 1, len(line))]
    made = "\n".join(rows)
    try:
        parse_module(made)
    except SyntaxError:
        return made, row + 1
    return None


def measure(files: list[Path], count: int, seed: int) -> Measured:
    """Break ``count`` files and count what each parser leaves of them."""
    chance = random.Random(seed)
    parsers: dict[str, tuple[Callable[[str], list[tuple[int, str, Place]]], Callable[[str], None]]] = {
        "ours": (ours, recover_only),
        "parso": (parsos, parse_only),
    }
    made = Measured(tallies={name: Tally() for name in parsers})
    while made.files < count:
        text = chance.choice(files).read_text(encoding="utf-8", errors="replace")
        try:
            whole = [*simple(parse_module(text))]
        except (SyntaxError, ValueError):
            continue
        damage = broken(text, chance) if "torch" in text and whole else None
        if damage is None:
            continue
        made.files += 1
        wanted = [each for each in whole if each[0] != damage[1]]
        made.statements += len(wanted)
        for name, (statements, parse) in parsers.items():
            start = time.process_time()
            parse(damage[0])
            made.tallies[name].seconds += time.process_time() - start
            _count(made.tallies[name], wanted, statements(damage[0]))
    return made


def _count(tally: Tally, wanted: list[tuple[int, str, Place]], left: list[tuple[int, str, Place]]) -> None:
    tally.kept += (Counter(each[1] for each in wanted) & Counter(each[1] for each in left)).total()
    tally.placed += (Counter(each[1:] for each in wanted) & Counter(each[1:] for each in left)).total()
    tally.lost += not left


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.bench.recovery")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    files = sorted(path for folder in arguments.folders for path in folder.rglob("*.py") if path.is_file())
    found = measure(files, arguments.count, arguments.seed)
    print(f"{found.files} broken files, {found.statements} simple statements on other rows than the damage")
    for name, tally in found.tallies.items():
        kept, placed = (100 * part / found.statements for part in (tally.kept, tally.placed))
        rest = f"{tally.lost} files lost, {1000 * tally.seconds / found.files:.1f} ms a file"
        print(f"{name}: {kept:.2f} % kept, {placed:.2f} % in their place, {rest}")


if __name__ == "__main__":
    main()
