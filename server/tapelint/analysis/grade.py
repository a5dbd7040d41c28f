"""What findings rest on, and what becomes of one that needs a certain branch on an unknown test.

An error says that PyTorch raises when the program runs as it is meant to. If that needs a choice, it is a warning that
names it. What needs two of them, or depends on the values of data, is not reported: too little is known.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from ..autograd.model.choices import (
    Choice,
    Conjunction,
    Guard,
    Literal,
    Subject,
    leaving_out,
    on_both_sides,
    ordered,
    without,
)
from ..because import Atom, RunBy
from ..engine.paths.abandoned import AbandonedPaths
from ..engine.paths.entailment import entailed
from ..rules import Finding
from ..severity import Severity
from ..source import Loop, children, walk, written

MAX_TEXT = 60
"""Characters of a test or a loop that a message quotes."""
TESTED = Atom("tested", "a test does this")
FOLLOWED = "on the paths that were followed"
"""What a finding rests on where too many paths have been left out to say what it needs."""


def grade(found: Finding, abandoned: AbandonedPaths, stands_in_tests: bool) -> Finding | None:
    """A finding as it is reported beside ``abandoned`` paths, with what it rests on; None if it is not. Nothing else
    decides that.
    """
    graded = _by_choices(found, abandoned)
    if graded is None or not stands_in_tests and graded.run_by is not RunBy.TESTS:
        return graded
    return _in_tests(graded, stands_in_tests)


def _by_choices(found: Finding, abandoned: AbandonedPaths) -> Finding | None:
    """A finding with what its path has chosen and supposes; what needs too much of that is not told."""
    severity = max(found.severity, Severity.WARNING) if found.because else found.severity
    if found.is_local:
        return replace(found, severity=severity, rests_on=tuple(_atoms(found, None)))
    needed = leaving_out(found.guard.followed, abandoned.guards)
    reported = [each for each in needed if all(_may_be_reported(choice, found) for choice, _ in each)]
    shortest = min(reported, key=lambda each: (_independent(found, each), len(each)), default=None)
    if shortest is None or _independent(found, shortest) + bool(found.point.supposed) > 1:
        return None
    if found.of_absence and not any(each <= shortest for each in _needed_of_all(found, abandoned)):
        return None  # what is missing there may be made on a path that was left out
    if shortest:
        chosen: Atom | None = Atom("chosen", _words(found, shortest))
    else:
        chosen = _by_selection(found, abandoned) if severity is Severity.ERROR else None
    if chosen is not None:
        severity = max(severity, Severity.WARNING)
    return replace(found, severity=severity, rests_on=tuple(_atoms(found, chosen)))


def _in_tests(found: Finding, stands_in_tests: bool) -> Finding | None:
    """What becomes of a finding of a test, which does on purpose what a program would not, and has been seen to pass:
    which way an unknown test goes is up to its fixtures and parameters. What PyTorch raises for certain stays an error.
    """
    if found.run_by is RunBy.TESTS and any(atom.kind == "chosen" for atom in found.rests_on):
        return None
    is_certain = found.severity is Severity.ERROR and all(atom.kind == "ordinary" for atom in found.rests_on)
    if stands_in_tests and is_certain and found.run_by is not RunBy.IMAGINED:
        return found
    return replace(found, severity=max(found.severity, Severity.INFORMATION), rests_on=(*found.rests_on, TESTED))


def _by_selection(found: Finding, abandoned: AbandonedPaths) -> Atom | None:
    """What an error rests on that needs no choice among the paths that were followed, but others were left out; None
    if it happens there too.
    """
    shortest = min(_needed_of_all(found, abandoned), key=lambda each: (_independent(found, each), len(each)))
    if not shortest:
        return None
    where = f", where {_words(found, shortest)}" if _independent(found, shortest) <= 1 else ""
    return Atom("followed", FOLLOWED + where)


def _needed_of_all(found: Finding, abandoned: AbandonedPaths) -> Guard:
    """What a finding needs, with what tells its paths from those that were left out for their number."""
    needed = leaving_out(found.guard.whole, abandoned.raised)
    return without(needed, on_both_sides(needed))


def _atoms(found: Finding, chosen: Atom | None) -> Iterator[Atom]:
    """What a finding needs, from what programs usually do to what tapelint guesses."""
    for lap in found.point.iterations:
        if lap.number > 1 and isinstance(lap.loop, Loop):
            yield Atom("ordinary", f"`{_head(lap.loop)}` runs at least twice")
    if chosen is not None:
        yield chosen
    supposed = found.point.supposed
    if supposed:
        yield Atom("chosen", " and ".join(atom.text for atom in supposed.atoms))
    if guessed := found.because.without(supposed):
        yield Atom("guessed", guessed.words)


def _may_be_reported(choice: Choice, found: Finding) -> bool:
    """Whether a finding that needs a choice is reported; one that needs certain data is if all of it happens there.
    What is missing with one of several items may be made with the others. A branch that has stored what its test asks
    need not run again.
    """
    if choice.subject is Subject.ITEM and not found.of_absence:
        return True
    return choice.subject is Subject.FLAG or choice.subject is not Subject.OWN and _surrounds(choice, found)


def _independent(found: Finding, chosen: Conjunction) -> int:
    """How many choices were made that may exclude each other. Those about the same values do not (``mode != "a" and
    mode != "b"``), nor does a test that is repeated, nor a branch in which the whole story happens. What is missing is
    missing only if every repetition of a test comes out that way.
    """
    apart = [choice for choice, _ in chosen if not _surrounds(choice, found)]
    values, tests = {choice.about or choice.formula for choice in apart}, {choice.test for choice in apart}
    return len(values) if found.of_absence else min(len(values), len(tests))


def _surrounds(choice: Choice, found: Finding) -> bool:
    """Whether all that leads to a hazard happens in the code that a choice leads to, as far as it stands in the same
    function as the test.
    """
    hazard = (found.point.node, found.node, *found.point.calls)
    if choice.inside is None:  # until the function returns: what its caller does with the result is none of it
        own = {id(node) for node in _own(choice.scope)}
        return any(id(node) in own for node in hazard)
    inside = {id(node) for side in choice.inside for node in walk(side)}
    if not any(id(node) in inside for node in hazard):
        return False
    beside = {id(node) for node in _own(choice.scope)} - inside
    return not any(id(link.node) in beside for link in found.links)


def _own(scope: ast.AST | None) -> Iterator[ast.AST]:
    """The nodes of a function or a module without those of the functions that are defined in it."""
    todo = children(scope) if scope is not None else []
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            todo += children(node)


def _words(found: Finding, chosen: Conjunction) -> str:
    """What is chosen; of the branches in which the hazard stands only the innermost, if there is nothing else."""
    made = ordered(chosen)
    around = [literal for literal in made if _surrounds(literal[0], found)]
    beside = [literal for literal in made if literal not in around]
    return " and ".join(dict.fromkeys(_sentence(*literal) for literal in _needed(beside or around[-1:])))


def _needed(literals: list[Literal]) -> list[Literal]:
    """Those of the choices that do not follow from the others."""
    matched = {choice.about for choice, taken in literals if _matches(choice, taken)}
    left = {
        choice.formula: (choice, taken)
        for choice, taken in literals
        if _matches(choice, taken) or choice.about not in matched
    }
    for formula, (_, taken) in [*left.items()]:
        others = {known: truth for known, (_, truth) in left.items() if known != formula}
        if entailed(others, formula) is taken:
            del left[formula]
    return [*left.values()]


def _matches(choice: Choice, taken: bool) -> bool:
    """Whether a choice of one case among several, or of one thing, says which one it is."""
    return len(choice.picked) > 1 or taken and (bool(choice.picked) or isinstance(choice.test, ast.pattern))


def _sentence(choice: Choice, taken: bool) -> str:
    holds = taken is not choice.negated
    test = choice.test
    if choice.picked:
        said = choice.picked[0] if holds or len(choice.picked) == 1 else choice.picked[1]
        return f"`{written(test)}` is {'' if holds or len(choice.picked) > 1 else 'not '}{said}"
    if isinstance(test, ast.pattern):
        return f"`case {ast.unparse(test)}` {'matches' if holds else 'does not match'}"
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, holds = test.operand, not holds
    return f"`{_quoted(written(test))}` is {'true' if holds else 'false'}"


def _head(loop: ast.For | ast.AsyncFor | ast.While) -> str:
    """How a loop begins. It may stand in another file than the finding, or in a cell: a row would not say where."""
    if isinstance(loop, ast.While):
        return f"while {_quoted(written(loop.test))}"
    return _quoted(f"for {written(loop.target)} in {written(loop.iter)}")


def _quoted(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 4]} ..."
