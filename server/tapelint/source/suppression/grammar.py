"""What one comment says, without regard to what stands around it.

# tapelint: ignore[TL101, backward-through-freed-graph] why     codes and names of rules; what follows is a reason
# tapelint: ignore-next-line, ignore-file, disable, enable      the same with another reach
# noqa: TL101                                                   codes only, as other tools have it
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum

from ...frozen import frozen
from ..edit import Span


class Form(Enum):
    """The word that says how far a comment reaches."""

    IGNORE = "ignore"
    NEXT_LINE = "ignore-next-line"
    FILE = "ignore-file"
    DISABLE = "disable"
    ENABLE = "enable"
    NOQA = "noqa"

    @property
    def is_of_range(self) -> bool:
        return self in (Form.DISABLE, Form.ENABLE)

    @property
    def is_of_statement(self) -> bool:
        """Whether it speaks for a statement, and goes where that goes."""
        return not self.is_of_range and self is not Form.FILE


class Flaw(Enum):
    """What can be wrong with a comment of ours, whatever rules there are."""

    UNKNOWN_FORM = "it begins with a word that is none of the forms"
    NO_CODES = "nothing in its brackets, or no brackets where they must be"
    NOT_CLOSED = "its bracket is not closed"
    NOT_IN_BRACKETS = "its codes are not in brackets"
    BESIDE_CODE = "a range begins or ends beside code"
    INDENTATION = "a range begins or ends at an indentation that its block does not have"
    UNMATCHED_ENABLE = "a range ends that did not begin"
    UNMATCHED_DISABLE = "a range that has no end: it ends with its block"


@frozen
class Listed:
    """A code, or the name of a rule, as it is written in a comment."""

    text: str
    span: Span


@frozen
class Directive:
    """One thing that a comment says. ``listed`` is None where it has no list: every code. ``span`` is all of it but
    the reason; ``word`` is where its form stands, as it is written. ``form`` is None where that is none of the forms.
    """

    form: Form | None
    word: Listed
    listed: tuple[Listed, ...] | None
    span: Span
    flaw: Flaw | None = None

    @property
    def codes(self) -> frozenset[str] | None:
        """What it lists, in capitals."""
        return None if self.listed is None else frozenset(each.text.upper() for each in self.listed)

    @property
    def order(self) -> tuple[str, ...]:
        """What it lists, in capitals and in order: by that the ends of ranges find their beginnings."""
        return tuple(each.text.upper() for each in self.listed or ())


_OURS = re.compile(
    r"#\s*tapelint:\s*(?P<word>[A-Za-z][\w-]*)"
    r"(?:\s*(?P<open>\[)(?P<list>[^\]#\[]*)(?P<close>\])?|\s*:?\s*(?P<bare>TL[0-9]+(?:[\s,]+TL[0-9]+)*)\b"
    r"|(?P<odd>:)|(?=$|[\s#]))",
    re.I,
)
_NOQA = re.compile(r"#\s*(?P<word>noqa)(?:\s*:\s*(?P<list>[A-Z]+[0-9]+(?:[\s,]+[A-Z]+[0-9]+)*))?(?![\w:-])", re.I)
_WORD = re.compile(r"[^\s,]+")
_FORMS = {form.value: form for form in Form if form is not Form.NOQA}


def directives(comment: str, row: int, column: int) -> Iterator[Directive]:
    """What a comment says that begins at ``row`` and ``column``: ``# noqa: E501  # tapelint: ignore`` says two things.
    A sentence about tapelint is none of them.
    """
    for found in _OURS.finditer(comment):
        directive = _ours(found, row, column)
        if directive.form is not None or directive.listed is not None or _is_all(found, comment):
            yield directive
    for found in _NOQA.finditer(comment):
        yield Directive(
            Form.NOQA, _word(found, row, column), _listed(found, "list", row, column), _span(found, row, column)
        )


def _ours(found: re.Match[str], row: int, column: int) -> Directive:
    word, span = _word(found, row, column), _span(found, row, column)
    form = _FORMS.get(word.text.lower())
    listed = _listed(found, "list", row, column)
    flaw = None
    if form is None:
        flaw, listed = Flaw.UNKNOWN_FORM, listed or _listed(found, "bare", row, column)
    elif found["open"] and not found["close"]:
        flaw = Flaw.NOT_CLOSED
    elif found["bare"]:
        flaw, listed = Flaw.NOT_IN_BRACKETS, _listed(found, "bare", row, column)
    elif listed == () or (listed is None and form.is_of_range):
        flaw, listed = Flaw.NO_CODES, ()
    elif found["odd"]:
        flaw, listed = Flaw.NOT_IN_BRACKETS, ()
    return Directive(form, word, listed, span, flaw)


def _is_all(found: re.Match[str], comment: str) -> bool:
    """Whether a comment says nothing else: no words follow that would make a sentence of it."""
    return re.match(r"\s*(?:#|--|$)", comment[found.end() :]) is not None


def _span(found: re.Match[str], row: int, column: int, group: str | int = 0) -> Span:
    return Span(row, column + found.start(group), row, column + found.end(group))


def _word(found: re.Match[str], row: int, column: int) -> Listed:
    return Listed(found["word"], _span(found, row, column, "word"))


def _listed(found: re.Match[str], group: str, row: int, column: int) -> tuple[Listed, ...] | None:
    """The words of a list; None where there is no list."""
    if found[group] is None:
        return None
    begin = column + found.start(group)
    words = _WORD.finditer(found[group])
    return tuple(Listed(w.group(), Span(row, begin + w.start(), row, begin + w.end())) for w in words)
