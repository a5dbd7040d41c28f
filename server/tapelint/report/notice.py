"""What was not seen of a file, and why: reported beside the findings, and counted apart from them.

    not read           not a text, or not readable
    not analysed       not even the recovery could parse it, too large, nested too deeply
    parsed in part     broken statements were left out
    followed in part   a budget was spent: what comes after in that function or script was not executed
    ended by an error  the program raises there, whatever its tests give: what comes after is never executed
    internal error     a fault of tapelint ended an entry point, a rule or the whole analysis

No comment silences a notice, and no fix does away with one. Where findings are listed by code for programs, it is
listed as well, under a code of its own that ``--ignore`` and severities know.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Sequence

from ..fault import REPORT, Fault
from ..frozen import frozen
from ..headline import headline
from ..severity import Severity
from ..source.edit import Span
from .diagnostic import Diagnostic, Related

START = Span(1, 1, 1, 1)
FAULTY = "Internal error: "
"""How the headline of a fault begins."""


class Kind(enum.Enum):
    """Why something was not seen, in the words of a summary: ``1 not read``."""

    NOT_READ = "not read"
    NOT_ANALYSED = "not analysed"
    PARSED_IN_PART = "parsed in part"
    FOLLOWED_IN_PART = "followed in part"
    ENDED = "ended by an error"
    FAULT = "with an internal error"

    @property
    def described(self) -> tuple[str, str, Severity]:
        """The code, the name and the severity under which programs are informed of it."""
        match self:
            case Kind.NOT_READ | Kind.NOT_ANALYSED:
                return "TL910", "not-analysed", Severity.WARNING
            case Kind.FOLLOWED_IN_PART:
                return "TL911", "followed-in-part", Severity.HINT
            case Kind.FAULT:
                return "TL912", "internal-error", Severity.WARNING
            case Kind.PARSED_IN_PART:
                return "TL913", "parsed-in-part", Severity.WARNING
            case Kind.ENDED:
                return "TL914", "ended-by-error", Severity.WARNING

    @property
    def is_failure(self) -> bool:
        """Whether the command line has failed to do what it was asked for."""
        return self in (Kind.NOT_READ, Kind.NOT_ANALYSED, Kind.FAULT)


@frozen
class Notice:
    """Something of a file that was not seen. ``message`` is a headline without the file's name; ``places`` say where,
    the first is where it is shown; ``names`` are the entry points; ``error`` is what a fault said, ``trace`` its
    traceback.
    """

    kind: Kind
    filename: str
    message: str
    places: tuple[Related, ...] = ()
    names: tuple[str, ...] = ()
    error: str = ""
    trace: str = ""
    help: str | None = None

    @property
    def span(self) -> Span:
        """Where it is shown: the first place in the file itself, or its start."""
        return next((place.span for place in self.places if place.filename == self.filename), START)

    @property
    def is_common(self) -> bool:
        """Whether there are too many of its kind to be reported one by one to a reader at a terminal."""
        return self.kind is Kind.FOLLOWED_IN_PART and bool(self.names)

    @property
    def diagnostic(self) -> Diagnostic:
        """The same in the form of a finding, for those who print these."""
        code, name, severity = self.kind.described
        related = self.places if len(self.places) > 1 or self.names else ()
        return Diagnostic(code, name, severity, self.message, self.filename, self.span, related, self.help)

    @property
    def sentence(self) -> str:
        """All there is to say in a line: what a fault said as well."""
        return f"{self.message}: {self.error}; {REPORT}" if self.error else self.message

    @property
    def failure(self) -> str:
        """The same with the name of the file, for a reader at a terminal."""
        if self.kind is Kind.FAULT:
            return f"internal error in {self.filename}: {self.sentence.removeprefix(FAULTY)}"
        return f"{self.filename}: {self.sentence[:1].lower()}{self.sentence[1:]}"

    @property
    def topic(self) -> tuple[Kind, frozenset[str]]:
        """What is reported, whichever rows it is about: an edit further up does not make it news."""
        return self.kind, frozenset([*self.names, self.trace.rpartition("\n")[2]])


def internal(filename: str, what: str, fault: Fault, found: Sequence[tuple[str, Related]] = ()) -> Notice:
    """A fault: ``what`` says what is missing because of it, ``found`` are the entry points that it ended."""
    names, places = tuple(name for name, _ in found), tuple(place for _, place in found)
    advice = f"Report this bug of tapelint: {fault}."
    return Notice(Kind.FAULT, filename, headline(FAULTY + what), places, names, str(fault), fault.trace, advice)


def tally(notices: Iterable[Notice]) -> Counter[Kind]:
    """For how many files there is a notice of each kind."""
    return Counter(kind for kind, _ in {(notice.kind, notice.filename) for notice in notices})


def listed(counts: Counter[Kind]) -> str:
    """``2 followed in part, 1 not read``; empty where there is nothing to say."""
    return ", ".join(f"{counts[kind]} {kind.value}" for kind in reversed(Kind) if counts[kind])


def outlined(files: Sequence[tuple[str, Sequence[Notice]]]) -> str:
    """What there is to say of some files, by their names, in a line: all of it where it is about one of them.

    ``train.py: `train` (line 12) was followed in part`` or ``followed in part: train.py, test.py``
    """
    if len(files) == 1:
        ((name, notices),) = files
        return f"{name}: {'; '.join(notice.sentence for notice in notices)}"
    said = []
    for kind in reversed(Kind):
        names = [name for name, notices in files if any(notice.kind is kind for notice in notices)]
        if names:
            said.append(f"{kind.value}: {', '.join(names)}")
    return "; ".join(said)
