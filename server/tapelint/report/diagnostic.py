"""What a user sees: plain data, the same for the terminal, the editor and CI. And how it is made of what the rules
observed: wanted, not silenced, each hazard once, in reading order.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Literal

from ..because import Atom
from ..frozen import frozen
from ..severity import Severity
from ..source import Suppressions
from ..source.edit import Edit, Span, apply

Applicability = Literal["safe", "unsafe", "manual"]
"""What may apply a fix: anyone, those who ask for unsafe ones too, or only who has chosen this very fix."""


@frozen
class Related:
    """One link of a diagnostic's story: what happened at ``span`` of ``filename``, as a sentence and in the few words
    that fit behind a line of code.
    """

    message: str
    filename: str
    span: Span
    short: str = ""


def place(link: Related, filename: str) -> str:
    """Where a link is, for readers of ``filename``: ``line 3``, or ``helpers.py line 3``."""
    other = "" if link.filename == filename else f"{os.path.basename(link.filename)} "
    return f"{other}line {link.span.row}"


Place = tuple[str, Span, str]
"""The file, the span and the code of a report."""


@frozen
class Diagnostic:
    """One hazard at one place. ``message`` is the headline, ``raises`` what PyTorch says there; ``related`` is the
    causal chain in the order of events; ``help`` says what to do; ``is_latent``: it needs something of the caller that
    no caller was seen to do; ``rests_on`` says that, and what else it needs beside the code.
    """

    code: str
    name: str
    severity: Severity
    message: str
    filename: str
    span: Span
    related: tuple[Related, ...] = ()
    help: str | None = None
    url: str | None = None
    is_latent: bool = False
    rests_on: tuple[Atom, ...] = ()
    raises: str | None = None
    # The line of PyTorch's traceback, where the finding is reported elsewhere.
    raised_at: Related | None = None
    # What happens at its own place in a few words, where PyTorch raises there and no link of the story says so.
    short: str = ""
    # What stands at the span has no effect: editors fade it. Of a range of comments, where the other end is.
    is_unnecessary: bool = False
    other_end: Related | None = None

    @property
    def place(self) -> Place:
        """Reports that agree in this are of one hazard."""
        return self.filename, self.span, self.code

    @property
    def marked(self) -> Related | None:
        """A second place at which an editor shows it."""
        return self.raised_at or self.other_end

    @property
    def needs(self) -> str:
        """What it rests on, in sentences; empty where it rests on nothing that a reader must know."""
        return " ".join(filter(None, dict.fromkeys(ground.sentence for ground in self.rests_on)))

    @property
    def lines(self) -> tuple[str, ...]:
        """The headline and, a line each, what PyTorch raises, what the finding rests on and what to do."""
        return tuple(filter(None, (self.message, self.raised, self.needs, self.help)))

    @property
    def steps(self) -> tuple[Related, ...]:
        """The story with its end: the links, and the finding itself where PyTorch raises there."""
        own = Related(self.message, self.filename, self.span, self.short)
        return (*self.related, own) if self.short else self.related

    @property
    def raised(self) -> str:
        """What PyTorch raises, as a sentence; empty where it raises nothing."""
        return f"PyTorch raises “{self.raises}”" if self.raises else ""


@frozen
class FileEdits:
    """What a fix changes in a file whose text was ``text``."""

    filename: str
    text: str
    edits: tuple[Edit, ...]

    @property
    def after(self) -> str:
        """The text with the edits."""
        return apply(self.text, self.edits)


@frozen
class Fix:
    """A change that makes the hazard go away; ``preferred`` marks the one best fix of a diagnostic. ``edits`` are those
    of the checked file, ``others`` those of files that it imports: all of them are made, or none. ``effect`` is a
    sentence on what it costs or changes besides.
    """

    title: str
    applicability: Applicability
    preferred: bool
    edits: tuple[Edit, ...]
    others: tuple[FileEdits, ...] = ()
    effect: str = ""


def with_effect(title: str, effect: str) -> str:
    """The title of a fix and its effect, one sentence after the other."""
    return f"{title}. {effect}" if effect else title


def unasked(fixes: Iterable[Fix], unsafe: bool) -> Fix | None:
    """The fix that is made of these where none is named: the preferred one where it is allowed, else the first that is.
    One that edits another file is left to that file's own check, or to the user.
    """
    wanted = ("safe", "unsafe") if unsafe else ("safe",)
    allowed = [fix for fix in fixes if fix.applicability in wanted and not fix.others]
    return next((fix for fix in allowed if fix.preferred), allowed[0] if allowed else None)


@frozen
class Offer:
    """The fixes of a diagnostic, best first. ``no_fix`` is a clause that says why there is none, where PyTorch raises
    and no fix is known to help.
    """

    fixes: tuple[Fix, ...] = ()
    no_fix: str | None = None


NO_OFFER = Offer()


def dedupe_and_grade(
    found: Iterable[Diagnostic],
    suppressions: Suppressions = Suppressions(),  # noqa: B008  (frozen)
    grade: Callable[[Diagnostic], Severity | None] = lambda diagnostic: diagnostic.severity,
) -> tuple[Diagnostic, ...]:
    """The findings to report. The same hazard at the same place is met on many paths: the gravest one, reported in the
    fewest steps, stands for all of them. ``grade`` says how grave it is to the user; None: not wanted."""
    best: dict[tuple[object, ...], Diagnostic] = {}
    for diagnostic in found:
        if suppressions.covers(diagnostic.code, diagnostic.span.row, diagnostic.name):
            continue
        known = best.get(diagnostic.place)
        if known is None or _grave_and_short(diagnostic) < _grave_and_short(known):
            best[diagnostic.place] = diagnostic
    graded = [replace(d, severity=severity) for d in best.values() if (severity := grade(d)) is not None]
    return tuple(sorted(graded, key=lambda d: (d.filename, d.span, d.severity, d.code)))


def _grave_and_short(diagnostic: Diagnostic) -> tuple[Severity, int]:
    return diagnostic.severity, len(diagnostic.related)
