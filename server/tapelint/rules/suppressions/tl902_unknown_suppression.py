"""A comment names a rule that does not exist, or has no form that is read.

## Why it matters
Nothing is silenced by such a code, though its author thinks so.

## Example
```py
x = torch.ones(3, requires_grad=True)
y = x * 2
y += 1  # tapelint: ignore[TL291] # information: [unknown-suppression] "TL291"
y.sum().backward()  # torch: ok
```

## Use instead
```py
net = nn.Linear(3, 1)
losses = []
for batch in torch.randn(4, 2, 3):
    losses.append(net(batch).mean())  # tapelint: ignore[TL105]
print(losses)  # torch: ok
```

## What is reported
Reports a word in the list of a `# tapelint:` comment that is neither the code nor the name of a rule, and one in a
`# noqa` that looks like a code of tapelint. Beginnings of codes count as unknown: comments take whole codes.

It also reports a comment that does not do what it looks like: an unknown form (`# tapelint: file-ignore`), an empty
list, a bracket that is not closed, codes without brackets, a `disable` or an `enable` beside code or at another
indentation than its block, an `enable` that ends nothing. A `disable` without `enable`, which reaches to the end of its
block, is a hint where it silences something.

## Fix safety
Only the code is removed, and the comment if it has no other; a form or brackets are put right where it is clear what is
meant, else the comment is removed. A newer tapelint may know the code, so `--fix` and
`source.fixAll.tapelint` do so only where the rule is selected by name (`--fix --extend-select TL902`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from ...severity import Severity
from ...source import Directive, Edit, Flaw, Flawed, Form, Listed, Source, Span, Suppression
from ..support.comments import OURS, code_of, is_ours, removed, without
from ..support.finding import FileSummary, Rule, TextFinding


def review(examined: FileSummary) -> Iterator[TextFinding]:
    source, names = examined.source, examined.names
    for entry in source.suppressions.entries:
        for word in entry.says.listed or ():
            if code_of(word, names) or not (is_ours(entry.says) or OURS.fullmatch(word.text)):
                continue
            yield TextFinding(
                span=word.span,
                severity=Severity.INFORMATION,
                message=_unknown(word.text, names),
                title=f"Remove {word.text}",
                edits=without(source, entry, [word]),
            )
    yield from flaws(examined)


def _unknown(word: str, names: dict[str, str]) -> str:
    """What is wrong with a word that is neither code nor name, and which of them it may be."""
    known = names if OURS.fullmatch(word) else names.values()
    near = get_close_matches(word.upper() if OURS.fullmatch(word) else word.lower(), known, 1, 0.7)
    short = word if len(word) <= 30 else f"{word[:29]}…"
    return f"No rule is called `{short}`" + (f" (did you mean {near[0]}?)" if near else ", so it silences nothing")


RULE = Rule(
    "TL902",
    "unknown-suppression",
    "a suppression comment names no rule, or has no form that tapelint reads",
    __doc__,
    review=review,
)


MEANT = {
    **{"file-ignore": Form.FILE, "skip-file": Form.FILE, "disable-file": Form.FILE, "noqa": Form.IGNORE},
    **{"ignore-line": Form.IGNORE, "disable-line": Form.IGNORE, "disable-next-line": Form.NEXT_LINE},
    **{"disable-next": Form.NEXT_LINE, "ignore-next": Form.NEXT_LINE, "off": Form.DISABLE, "on": Form.ENABLE},
}
"""The words of other tools, and ours for them."""
ENOUGH = 30
"""Characters of a list that a headline can quote."""


def flaws(examined: FileSummary) -> Iterator[TextFinding]:
    """One finding for each flawed comment of a file. A range of no use is another matter than one without an end."""
    source = examined.source
    for flawed in source.suppressions.flawed:
        if flawed.flaw is Flaw.UNMATCHED_DISABLE:
            reach = Suppression(flawed.says, flawed.says.span.row, flawed.last)
            if not any(reach.covers(code, row, examined.names[code]) for code, row in examined.seen):
                continue
        title, edit = _cure(source, flawed)
        yield TextFinding(
            span=flawed.says.span,
            severity=Severity.HINT if flawed.flaw is Flaw.UNMATCHED_DISABLE else Severity.INFORMATION,
            message=_headline(flawed),
            title=title,
            edits=(edit,),
        )


def _headline(flawed: Flawed) -> str:
    says = flawed.says
    word, listed = says.word.text[:ENOUGH], _listed(says)
    match flawed.flaw:
        case Flaw.UNKNOWN_FORM:
            meant = _meant(says)
            return f"`# tapelint: {word}` means nothing" + (f" (did you mean {meant.value}?)" if meant else "")
        case Flaw.NO_CODES if says.form is not None and says.form.is_of_range:
            return f"`{word}` needs codes or names of rules in brackets, else it does nothing"
        case Flaw.NO_CODES:
            return f"`{word}[]` lists no rule, so it silences nothing"
        case Flaw.NOT_CLOSED:
            return f"The bracket of `{word}[` is not closed, so it silences nothing"
        case Flaw.NOT_IN_BRACKETS:
            return "Codes must stand in brackets: `# tapelint: ignore[TL101]`"
        case Flaw.BESIDE_CODE:
            return f"`{word}` does nothing beside code: it needs a line of its own"
        case Flaw.INDENTATION:
            return f"`{word}` does nothing here: it is not indented like the block around it"
        case Flaw.UNMATCHED_ENABLE:
            return f"`enable{listed}` ends nothing: its block has no such `disable` above it"
        case Flaw.UNMATCHED_DISABLE:
            return f"`disable{listed}` has no such `enable`, so it reaches to the end of its block"


def _listed(says: Directive) -> str:
    """The list of a comment, if it is short enough for a headline."""
    text = _brackets(says.listed or ())
    return text if len(text) <= ENOUGH else "[…]"


def _meant(says: Directive) -> Form | None:
    """The form that an unknown word stands for."""
    word = says.word.text.lower()
    near = get_close_matches(word, (form.value for form in Form if form is not Form.NOQA), 1, 0.7)
    return MEANT.get(word) or (Form(near[0]) if near else None)


def _cure(source: Source, flawed: Flawed) -> tuple[str, Edit]:
    """What puts a comment right, with its title: takes it away where it is not clear what is meant."""
    says, at = flawed.says, flawed.says.span
    listed = says.listed or ()
    match flawed.flaw:
        case Flaw.UNKNOWN_FORM if (meant := _meant(says)) and (listed or not meant.is_of_range):
            title = f"Replace {says.word.text} by {meant.value}"
            if "[" in _text(source, says) or not listed:
                return title, Edit(says.word.span, meant.value)
            return title, Edit(_to_last(says.word.span, listed), f"{meant.value}{_brackets(listed)}")
        case Flaw.NOT_CLOSED if listed and all(OURS.fullmatch(word.text) for word in listed):
            end = listed[-1].span.end_column
            return "Close the bracket", Edit(Span(at.row, end, at.row, end), "]")
        case Flaw.NOT_IN_BRACKETS if listed:
            title = "Put the codes into brackets"
            return title, Edit(_to_last(says.word.span, listed), f"{says.word.text}{_brackets(listed)}")
        case Flaw.UNMATCHED_DISABLE:
            return f"Add enable{_listed(says)} at the end of the block", _ended(source, flawed)
    return "Remove the comment", removed(source, at)


def _text(source: Source, says: Directive) -> str:
    return source.lines[says.span.row - 1][says.span.column - 1 : says.span.end_column - 1]


def _brackets(listed: Sequence[Listed]) -> str:
    return f"[{', '.join(word.text for word in listed)}]"


def _to_last(begin: Span, listed: Sequence[Listed]) -> Span:
    """From a word to the end of its list."""
    return Span(begin.row, begin.column, begin.row, listed[-1].span.end_column)


def _ended(source: Source, flawed: Flawed) -> Edit:
    """The edit that puts the end of a range where its block ends: below its last row that is not blank."""
    says, last = flawed.says, flawed.last
    while last > says.span.row and not source.lines[last - 1].strip():
        last -= 1
    line = source.lines[last - 1]
    before = source.lines[says.span.row - 1][: says.span.column - 1].removeprefix("\ufeff")
    eol = "\r\n" if "\r\n" in source.text else "\r" if "\r" in source.text and "\n" not in source.text else "\n"
    comment = f"# tapelint: enable{_brackets(says.listed or ())}"
    return Edit(Span(last, len(line) + 1, last, len(line) + 1), f"{eol}{before}{comment}")
