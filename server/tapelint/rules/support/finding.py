"""What a rule concludes from an event: a hazard at a place, reported as a story."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import field
from enum import Enum, auto

from ... import __documentation__ as PAGES
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...autograd.model.choices import UNGUARDED, PathGuard
from ...autograd.model.program_point import ProgramPoint
from ...because import NOTHING, Atom, Because, RunBy
from ...frozen import frozen
from ...severity import Severity
from ...source import Edit, Source, Span
from .cure import FixProposal


@frozen
class TraceStep:
    """One step of the story: what happened at ``node``, ``when`` the program was there; ``short`` says it in the few
    words that fit behind a line of code.
    """

    node: ast.AST
    text: str
    when: ProgramPoint | None = None
    short: str = ""


class Holds(Enum):
    """Which paths have to show a hazard, so that it is told."""

    # The path that it was found on.
    ON_ITS_PATH = auto()
    # That, and all that were left out: what is missing may be made there, or in any other iteration of a loop.
    IF_NOTHING_MAKES_IT = auto()
    # No other path goes backward at this place, unless this one supposes something.
    IF_NO_PATH_GOES_BACKWARD = auto()
    # None: it is wrong wherever it runs, whatever has led there.
    WHEREVER_IT_RUNS = auto()


class Same(Enum):
    """Where a finding of another rule tells the same hazard."""

    # It stands at the same place.
    AT_ITS_PLACE = auto()
    # Its story passes through the place, or both are about what one ``loop`` records.
    IN_ITS_STORY = auto()
    # Its story passes through the place, and PyTorch raises for both at one.
    AT_ITS_EXCEPTION = auto()


def undecided(premises: Collection[Hashable], point: ProgramPoint) -> ProgramPoint | None:
    """From where on a hazard is there wherever that runs, if no premise decides what is cleared and stepped."""
    return None if premises else point


@frozen(kw_only=True)
class Finding:
    """A hazard and its story."""

    # when it happens, and where it is reported unless ``at`` says otherwise
    point: ProgramPoint
    severity: Severity
    # the headline: what happens, to which variable, because of what
    message: str
    # the error that PyTorch raises, in its own words; None where it raises nothing
    raises: str | None = None
    # what happens where PyTorch raises, if that is no step of what led there, in the few words of a step's ``short``
    short: str = ""
    # what led to it, in the order of the execution
    links: tuple[TraceStep, ...] = ()
    # what to do about it
    help: str
    # what would cure it, best first
    cures: tuple[FixProposal, ...] = ()
    # why there are none, as a clause, where PyTorch raises
    no_fix: str = ""
    # the syntax it is reported at, if that is not the program point
    at: ast.AST | None = None
    # where PyTorch raises
    raiser: ast.AST | None = None
    # which paths have to show it
    holds: Holds = Holds.ON_ITS_PATH
    # where all begins that it needs: it is wrong wherever that runs, whatever has led there
    since: ProgramPoint | None = None
    # what the program does more than once: a test of data around it alone decides only how often
    repeated: tuple[ast.AST, ...] = ()
    # the loop whose graphs it is about
    loop: ast.AST | None = None
    # what gave rise to it: findings of one rule with the same cause and the same reason are one
    cause: Hashable = None
    # the rule that found it: filled in by what runs the rules
    code: str = ""
    # what its event needs beside what the path supposes
    because: Because = NOTHING
    # the branches on unknown tests that it needs
    guard: PathGuard = UNGUARDED
    # what runs the code
    run_by: RunBy = RunBy.PROGRAM
    # what it rests on beside the code
    rests_on: tuple[Atom, ...] = ()

    @property
    def node(self) -> ast.AST:
        """Where it is reported."""
        return self.at if self.at is not None else self.point.node


def severity_of(event: Event) -> Severity:
    """How grave an error of PyTorch is: it may not happen where the event rests on an assumption."""
    return Severity.WARNING if event.because else Severity.ERROR


@frozen
class TextFinding:
    """Something about the text itself, such as its comments; ``edits`` do away with it, under ``title``. What stands at
    ``span`` may be ``is_unnecessary``: an editor fades it, and what stands at the ``end`` of the range that it begins.
    """

    span: Span
    severity: Severity
    message: str
    title: str
    edits: tuple[Edit, ...]
    is_unnecessary: bool = False
    end: Span | None = None


@frozen
class FileSummary:
    """A file after it was executed: ``seen`` are the code and the row of every hazard in it, silenced or not, of the
    rules that were ``asked``. ``names`` are those of all rules by code. What was not seen is not there if the file
    ``is_certain``: asked last, since that takes a look at the whole project.
    """

    source: Source
    seen: frozenset[tuple[str, int]]
    asked: frozenset[str]
    names: dict[str, str]
    is_certain: Callable[[], bool]


Check = Callable[[Event, Facts], "Finding | None"]
Review = Callable[[FileSummary], Iterable[TextFinding]]


@frozen
class Rule:
    """One hazard. ``docs`` is the user's documentation in Markdown; ``events`` are the classes ``check`` is given.
    A rule about the text has a ``review`` instead, which is asked once, in the end.

    One that is not on by ``default`` reports only where the configuration selects it: it bans what may be right.
    ``notice`` is set where this is no rule but what notices about the analysis itself are reported under (``report``):
    how grave they are. ``raises`` are the errors it predicts, in PyTorch's own words as far as these are always the
    same, and ``warns`` the warnings that PyTorch gives of the same hazard. It is ``answerable`` if it says that
    something is missing or never happens, which code that is not written yet may answer: the next line clears the
    gradients. An editor does not say so while that line is being typed. Where one of the rules that it is ``told_by``,
    given by their codes, tells the same hazard, only that one is reported.
    """

    code: str
    name: str
    summary: str
    docs: str
    events: tuple[type[Event], ...] = ()
    check: Check | None = None
    review: Review | None = None
    raises: tuple[str, ...] = ()
    warns: tuple[str, ...] = ()
    default: bool = True
    notice: Severity | None = None
    answerable: bool = False
    told_by: dict[str, Same] = field(default_factory=dict, compare=False)

    @property
    def url(self) -> str | None:
        """The address of the rule's page; None as long as the documentation has none."""
        return f"{PAGES}/rules/{self.code}.md" if PAGES else None
