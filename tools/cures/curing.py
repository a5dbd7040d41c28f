"""Cures a program as its author would: the preferred fix of the error that PyTorch raises, until it raises none."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import Enum

from ..fuzz.judge import kind_of
from .gradients import Reached
from .programs import Program, Ran, Written
from .trained import starving, unlike

ROUNDS = 8
"""How many errors of one program are cured, one after the other."""
ITERATIONS = 5
"""How often a loop that counts to a smaller number runs in the end."""


class End(Enum):
    """What became of a program."""

    CLEAN = "runs clean"
    RUNS = "does not raise"
    UNREPORTED = "not reported"
    UNCURED = "no cure"
    RAISES = "raises after its cure"
    AGAIN = "raises in a later iteration"
    LOSES = "loses gradients"


@dataclass(frozen=True, slots=True)
class Step:
    """One cure: the error, and the title of the fix."""

    error: str
    title: str


@dataclass(slots=True)
class Cured:
    """What became of a program, by which cures, and its text in the end."""

    program: Program
    end: End
    error: str = ""
    steps: list[Step] = field(default_factory=list)

    @property
    def is_offered(self) -> bool:
        """Whether every error on the way had a cure."""
        return self.end in (End.CLEAN, End.RAISES, End.AGAIN, End.LOSES)


def cure(program: Program) -> Cured:
    """Apply the preferred fix of the error that PyTorch raises, then of the next one, until none is left."""
    ran = program.run()
    made = Cured(program, End.RUNS)
    if not ran.error:
        return made
    meant = Reached(list(ran.reached.leaves))
    for _ in range(ROUNDS):
        made.error = short(ran.error)
        report, offers = made.program.cures(ran.row, ran.error)
        if not offers:
            made.end = End.RAISES if made.steps else End.UNREPORTED
            return made
        fix = next((fix for fixes in offers for fix in fixes if fix.preferred), None)
        if fix is None:
            made.end = End.UNCURED
            return made
        made.steps.append(Step(made.error, fix.title))
        made.program = made.program.with_fix(report, fix)
        ran = made.program.run()
        if not ran.error:
            made.end, made.error = judged(made.program, ran, meant)
            return made
        meant.leaves += ran.reached.leaves
    made.end, made.error = End.RAISES, short(ran.error)
    return made


def judged(program: Program, ran: Ran, meant: Reached) -> tuple[End, str]:
    """What is wrong with a program that has ``ran`` clean, if something is."""
    if lost := meant.lost_in(ran.reached):
        return End.LOSES, ", ".join(lost)
    longer = lengthened(program.text)
    again = program.with_text(longer).run() if longer != program.text else ran
    if again.error and kind_of(again.error) != "other":
        return End.AGAIN, short(again.error)
    return End.CLEAN, ""


def harms(program: Written) -> list[str]:
    """How the safe fixes of a program, of whatever is found, change its training, each with its title before it."""
    ran, found = program.run(), list[str]()
    right = program.with_text(program.twin).run() if program.twin is not None else None
    report, offers = program.all_cures()
    for diagnostic, fixes in offers.items():
        for fix in fixes:
            if fix.applicability == "safe":
                if harm := _harm(program.with_fix(report, fix), ran, right):
                    found.append(f"{diagnostic.code}: {fix.title}: {harm}")
    return found


def _harm(cured: Written, bad: Ran, right: Ran | None) -> str:
    """How a cured program trains otherwise than the right one, or the bad one as far as that came."""
    cured = _cured_further(cured)
    ran, longer = cured.run(), lengthened(cured.text)
    if ran.error:
        return ""  # it trains nothing, and says so
    again = cured.with_text(longer).run() if longer != cured.text else ran
    if again.error and kind_of(again.error) != "other":
        return short(again.error)
    if right is not None and not right.error:
        starved = starving(ran.trained, right.trained)
        if starved or not unlike(ran.trained, right.trained):
            return starved
    return unlike(ran.trained, bad.trained, is_right=False) if bad.error else ""


def _cured_further(program: Written) -> Written:
    """The program after the preferred cures of what it still raises."""
    for _ in range(ROUNDS):
        ran = program.run()
        if not ran.error:
            break
        report, offers = program.cures(ran.row, ran.error)
        fix = next((fix for fixes in offers for fix in fixes if fix.preferred), None)
        if fix is None:
            break
        program = program.with_fix(report, fix)
    return program


def short(error: str) -> str:
    """The first line of an error."""
    return error.partition("\n")[0][:160]


def lengthened(text: str) -> str:
    """The program with loops ``for ... in range(n)`` of at least two iterations lengthened to some more.

    One whose counter is used, if only as an index, is left alone: it may have just as many items.
    """
    tree = ast.parse(text)
    rows = text.splitlines(keepends=True)
    for node in ast.walk(tree):
        if not isinstance(node, ast.For) or not isinstance(node.target, ast.Name):
            continue
        name = node.target.id
        if any(isinstance(one, ast.Name) and one.id == name for part in node.body for one in ast.walk(part)):
            continue
        match node.iter:
            case ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int(n)) as count]) if 2 <= n < ITERATIONS:
                row = rows[count.lineno - 1]
                encoded = row.encode()
                new = encoded[: count.col_offset] + str(ITERATIONS).encode() + encoded[count.end_col_offset :]
                if count.end_col_offset is not None and count.end_col_offset - count.col_offset == 1:
                    rows[count.lineno - 1] = new.decode()
    return "".join(rows)
