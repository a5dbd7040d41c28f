"""Which hazards are told, how grave they are, and what they rest on: decided here, and nowhere else.

An error says that PyTorch raises when the program runs as it is meant to. If that needs a choice, it is a warning that
names it. What needs two of them is not told, nor what depends on the values of data; but where what does the harm
stands on one side of a test of them, it is an information. Of several findings about one hazard the one that says most
is told:

    h = cell(x, h)
    h.sum().backward(retain_graph=True)      TL104: `h` carries the graph
    optimizer.step()                         TL202: what that graph saved is written. One exception, one finding

    out = model(x)                           what is not known may keep a graph
    out[0].exp().numpy()                     TL306, if it does
    out[1].exp().numpy()                     if it does, this as well: a step of the same story

What is not told says why (``tapelint trace``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

from ..autograd import ProgramPoint
from ..autograd.model.choices import (
    UNGUARDED,
    Choice,
    Conjunction,
    Guard,
    Literal,
    Subject,
    leaving_out,
    literals_of,
    of_one_test,
    on_both_sides,
    ordered,
    without,
)
from ..because import Atom, RunBy, guess
from ..engine.paths.abandoned import AbandonedPaths
from ..engine.paths.entailment import entailed
from ..frozen import frozen
from ..headline import shortened
from ..rules import Finding, Holds, Same, TraceStep, rule_named
from ..rules.support.cure import FixProposal
from ..severity import Severity
from ..source import FUNCTIONS, Definition, Loop, own_nodes, walk, written

TESTED = Atom("tested", "a test does this")
REACHED = guess("this code is reached")
REPEATED = guess("this is done more than once")
FOLLOWED = "on the paths that were followed"
"""What a finding rests on where too many paths have been left out to say what it needs."""
Place = tuple[str, ast.AST]
"""The code of a rule, and the syntax at which it finds something."""


@frozen
class Untold:
    """A hazard that was found and is not reported, and why, as a clause about it."""

    finding: Finding
    why: str


@frozen
class Judgement:
    """What is told, and what is not."""

    told: dict[Place, Finding]
    untold: tuple[Untold, ...]


def judge(
    found: Mapping[Place, Iterable[Finding]],
    abandoned: AbandonedPaths,
    stands_in_tests: Callable[[Finding], bool],
    walks: Collection[ast.AST],
) -> Judgement:
    """What becomes of all that was ``found`` at each place, each with other reasons, beside ``abandoned`` paths; there
    is a backward at each of ``walks``.
    """
    told, untold = dict[Place, Finding](), list[Untold]()
    for place, alike in found.items():
        judged = [_graded(each, abandoned, stands_in_tests(each), walks) for each in alike]
        graded = [each for each in judged if isinstance(each, Finding)]
        if graded:
            told[place] = min(graded, key=lambda each: each.severity)
        else:
            untold += [each for each in judged if isinstance(each, Untold)]
    for at in ((Same.AT_ITS_PLACE,), (Same.IN_ITS_STORY, Same.AT_ITS_EXCEPTION)):
        others = {place: code for place, each in told.items() if (code := _teller(each, told, at)) is not None}
        untold += [Untold(told.pop(place), f"{code} tells the same") for place, code in others.items()]
    return Judgement(_merged(told), tuple(untold))


def wherever_reached(found: Finding) -> Finding | None:
    """A finding without what has led to the point from which on all happens that it needs; None where more has to."""
    since = found.since
    if since is None or found.guard == UNGUARDED:
        return None
    if not literals_of(found.guard.followed) <= literals_of(since.guard.followed):
        return None
    point = replace(found.point, supposed=found.point.supposed.without(since.supposed))
    return replace(found, point=point, guard=UNGUARDED, because=found.because & REACHED)


def _graded(
    found: Finding, abandoned: AbandonedPaths, stands_in_tests: bool, walks: Collection[ast.AST]
) -> Finding | Untold:
    """A finding with its severity and what it rests on, by itself."""
    if found.holds is Holds.IF_NO_PATH_GOES_BACKWARD and not found.point.supposed and found.point.node in walks:
        return Untold(found, "another path goes backward there")
    graded = _by_choices(found, abandoned)
    if isinstance(graded, Untold) or not stands_in_tests and graded.run_by is not RunBy.TESTS:
        return graded
    return _in_tests(graded, stands_in_tests)


def _by_choices(found: Finding, abandoned: AbandonedPaths) -> Finding | Untold:
    """A finding with what its path has chosen and supposes; what needs too much of that is not told."""
    severity = max(found.severity, Severity.WARNING) if found.because else found.severity
    if found.holds is Holds.WHEREVER_IT_RUNS:
        return replace(found, severity=severity, rests_on=tuple(_atoms(found, None)))
    needed = of_one_test(leaving_out(found.guard.followed, abandoned.guards))
    how_often = frozenset(each for each in literals_of(needed) if _decides_how_often(each[0], found))
    if how_often:
        needed, found = without(needed, how_often), replace(found, because=found.because & REPEATED)
    severity, reported = _reportable(needed, found, severity)
    shortest = min(reported, key=lambda each: (_independent(found, each), len(each)), default=None)
    if shortest is None:
        needs = min(needed, key=len, default=frozenset[Literal]())
        return Untold(found, f"it depends on values that are not known ({_all_words(found, needs)})")
    supposed = found.point.supposed
    is_guessed = len(supposed.atoms) > 1 and bool(found.because.without(supposed))
    is_called_again = _called_again(found.point) is not None
    if _independent(found, shortest) + _is_supposed_beside(found) + is_guessed + is_called_again > 1:
        return Untold(found, f"it needs more than one choice ({_all_words(found, shortest)})")
    is_missing = found.holds is Holds.IF_NOTHING_MAKES_IT
    if is_missing and not any(each <= shortest for each in _needed_of_all(found, abandoned)):
        return Untold(found, "what is missing may be made on a path that was left out")
    if shortest:
        chosen: Atom | None = Atom("chosen", _words(found, shortest))
    else:
        chosen = _by_selection(found, abandoned) if severity is Severity.ERROR else None
    if chosen is not None:
        severity = max(severity, Severity.WARNING)
    return replace(found, severity=severity, rests_on=tuple(_atoms(found, chosen)))


def _called_again(point: ProgramPoint) -> str | None:
    """The function of which only another call shows a hazard, if it has a loop of its own around that."""
    for before, after in pairwise(point.iterations):
        if before.number > 1 and isinstance(before.loop, Definition) and isinstance(after.loop, Loop):
            return before.loop.name
    return None


def _all_words(found: Finding, chosen: Conjunction) -> str:
    """All that a finding needs: what its path supposes and what it has chosen."""
    choices = (_sentence(*literal) for literal in ordered(chosen))
    return " and ".join(dict.fromkeys((*(atom.text for atom in found.point.supposed.atoms), *choices)))


def _in_tests(found: Finding, stands_in_tests: bool) -> Finding | Untold:
    """What becomes of a finding of a test, which does on purpose what a program would not, and has been seen to pass:
    which way an unknown test goes is up to its fixtures and parameters. What PyTorch raises for certain stays an error.
    """
    if found.run_by is RunBy.TESTS and any(atom.kind == "chosen" for atom in found.rests_on):
        return Untold(found, "a test of the program decides it, which has been seen to pass")
    is_certain = found.severity is Severity.ERROR and all(atom.kind == "ordinary" for atom in found.rests_on)
    if stands_in_tests and is_certain and found.run_by is not RunBy.IMAGINED:
        return found
    return replace(found, severity=max(found.severity, Severity.INFORMATION), rests_on=(*found.rests_on, TESTED))


def _teller(found: Finding, told: dict[Place, Finding], at: Collection[Same]) -> str | None:
    """The code of a rule that tells the same hazard, if that shows ``at`` one of some places."""
    rule = rule_named(found.code)
    for code, same in () if rule is None else rule.told_by.items():
        if same in at and any(code == other.code and _tells(other, found, same) for other in told.values()):
            return code
    return None


def _tells(other: Finding, found: Finding, same: Same) -> bool:
    """Whether a finding of a rule that says more about a hazard is about that of ``found``."""
    passes = any(link.node is found.node for link in other.links)
    is_graver = other.severity <= found.severity
    match same:
        case Same.AT_ITS_PLACE:
            return other.node is found.node
        case Same.IN_ITS_STORY:
            return passes or is_graver and found.loop is not None and other.loop is found.loop
        case Same.AT_ITS_EXCEPTION:
            return passes and is_graver and other.raiser is found.raiser


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
    if (name := _called_again(found.point)) is not None:
        yield Atom("ordinary", f"`{name}` is called again")
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
    if choice.subject is Subject.ITEM and found.holds is not Holds.IF_NOTHING_MAKES_IT:
        return True
    return choice.subject is Subject.FLAG or choice.subject is not Subject.OWN and _surrounds(choice, found)


def _reportable(needed: Guard, found: Finding, severity: Severity) -> tuple[Severity, list[Conjunction]]:
    """How grave a finding is, and with which of the choices that it needs it may be reported."""
    reported = [each for each in needed if all(_may_be_reported(choice, found) for choice, _ in each)]
    if reported or severity is not Severity.ERROR:
        return severity, reported
    alone = [each for each in needed if len(each) == 1]
    return Severity.INFORMATION, [each for each in alone for choice, _ in each if _is_written_for_data(choice, found)]


def _is_written_for_data(choice: Choice, found: Finding) -> bool:
    """Whether what does the harm stands on one side of a test of data, for which somebody wrote it. What is compared
    with text is no data.
    """
    is_about_text = any(isinstance(node, ast.Constant) and isinstance(node.value, str) for node in walk(choice.test))
    if choice.subject is not Subject.DATA or is_about_text:
        return False
    return any(found.node is node for side in choice.inside or () for node in walk(side))


def _independent(found: Finding, chosen: Conjunction) -> int:
    """How many choices were made that may exclude each other. Those about the same values do not (``mode != "a" and
    mode != "b"``), nor does a test that is repeated, nor a branch in which the whole story happens. What is missing is
    missing only if every repetition of a test comes out that way.
    """
    apart = [choice for choice, _ in chosen if not _surrounds(choice, found)]
    values, tests = {choice.about or choice.formula for choice in apart}, {choice.test for choice in apart}
    return len(values) if found.holds is Holds.IF_NOTHING_MAKES_IT else min(len(values), len(tests))


def _is_supposed_beside(found: Finding) -> bool:
    """Whether a finding needs an option that does not lead to the whole story: what is written for an option may make
    choices of its own.
    """
    supposed, region = found.point.supposed, found.point.supposed_code
    if not supposed or len(supposed.atoms) > 1 or region is None:
        return bool(supposed)
    return not _happens_in(region.code, region.scope, found)


def _decides_how_often(choice: Choice, found: Finding) -> bool:
    """Whether a test of data is one around what is ``repeated``, and nothing else of the story."""
    if choice.subject is not Subject.DATA or not choice.inside:
        return False
    inside = {id(node) for side in choice.inside for node in walk(side)}
    others = (link.node for link in found.links if link.node not in found.repeated)
    return any(id(node) in inside for node in found.repeated) and not any(id(node) in inside for node in others)


def _surrounds(choice: Choice, found: Finding) -> bool:
    """Whether all that leads to a hazard happens in the code that a choice leads to, as far as it stands in the same
    function as the test, or is called there. What a loop does with the items of a generator happens at its yields.
    """
    if choice.inside is None:  # until the function returns: what its caller does with the result is none of it
        return not _own(choice.scope).isdisjoint(_hazard(found))
    return _happens_in(choice.inside, choice.scope, found)


def _hazard(found: Finding) -> set[int]:
    """The nodes of a hazard and of the calls that lead to it, by id."""
    return {id(node) for node in (found.point.node, found.node, *found.point.calls)}


def _happens_in(code: Iterable[ast.AST], scope: ast.AST | None, found: Finding) -> bool:
    """Whether all that leads to a hazard happens in some code of the function ``scope``, as far as it stands in that,
    or is called there.
    """
    hazard, own = _hazard(found), _own(scope)
    inside = {id(node) for each in code for node in walk(each)}
    is_looped = any(isinstance(lap.loop, ast.For) for lap in found.point.iterations)
    if inside.isdisjoint(hazard) and not (is_looped and own.isdisjoint(hazard) and _holds_yields(scope, inside)):
        return False
    beside = own - inside
    steps = ((link.node, *(link.when.calls if link.when else ())) for link in found.links)
    return not any(id(node) in beside for step in steps for node in step)


def _holds_yields(scope: ast.AST | None, inside: Container[int]) -> bool:
    """Whether a function is a generator, all of whose yields are ``inside`` (by id)."""
    own = own_nodes(scope, FUNCTIONS) if scope is not None else ()
    yields = [node for node in own if isinstance(node, ast.Yield)]
    return bool(yields) and all(id(node) in inside for node in yields)


def _own(scope: ast.AST | None) -> set[int]:
    """The nodes of a function or a module without those of the functions that are defined in it, by id."""
    return set(map(id, own_nodes(scope, FUNCTIONS))) if scope is not None else set()


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
    return f"`{shortened(written(test))}` is {'true' if holds else 'false'}"


def _head(loop: ast.For | ast.AsyncFor | ast.While) -> str:
    """How a loop begins. It may stand in another file than the finding, or in a cell: a row would not say where."""
    if isinstance(loop, ast.While):
        return f"while {shortened(written(loop.test))}"
    return shortened(f"for {written(loop.target)} in {written(loop.iter)}")


def _merged(told: dict[Place, Finding]) -> dict[Place, Finding]:
    """Those of one rule, one cause and one premise as one, at the first place."""
    alike: dict[Hashable, list[Place]] = {}
    for key, found in told.items():
        if found.cause is not None:
            alike.setdefault((found.code, found.cause, found.because, found.rests_on, found.severity), []).append(key)
    for keys in alike.values():
        if len(keys) > 1:
            first, *others = sorted(keys, key=_position)
            told[first] = _telling(told[first], [told.pop(key) for key in others])
    return told


def _position(key: Place) -> tuple[int, int]:
    node = key[1]
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _telling(found: Finding, others: list[Finding]) -> Finding:
    """A finding that tells the ``others`` as well. What cures it cures them, where each has a cure of that kind."""
    places = tuple(TraceStep(other.node, "the same here") for other in others)
    cures = (_at_all(cure, others) for cure in found.cures)
    return replace(found, links=(*found.links, *places), cures=tuple(filter(None, cures)))


def _at_all(cure: FixProposal, others: Iterable[Finding]) -> FixProposal | None:
    """The cure, made at all places at once."""
    also = list(cure.also)
    for other in others:
        same = next((each for each in other.cures if each.purpose == cure.purpose), None)
        if same is None:
            return None
        also += [same, *same.also]
    return replace(cure, also=tuple(also))
