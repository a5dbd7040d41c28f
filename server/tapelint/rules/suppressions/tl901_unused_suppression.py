"""A comment silences nothing.

## Why it matters
PyTorch knows nothing of the comment. But it tells readers of a hazard that is not there any more, and would hide the
next one. A comment without codes does not silence this rule; `# tapelint: ignore[TL901]` does.

## Example
```py
x = torch.ones(3, requires_grad=True)
y = x * 2
y += 1  # tapelint: ignore[TL201] # hint: [unused-suppression] "TL201"
y.sum().backward()  # torch: ok
```

## Use instead
```py
x = torch.ones(3, requires_grad=True)
y = x * 2
y += 1
y.sum().backward()  # torch: ok
```

## What is reported
Reports `# tapelint: ignore`, `ignore-next-line`, `ignore-file` and `disable`, and codes of tapelint in a `# noqa`,
where there is nothing to silence; of a list only the codes and names that silence nothing, or nothing more. A bare
`# noqa` and codes of other tools are none of its business.

It only reports what is certain. A comment may silence what is not seen today: below an error that ended the path,
behind `if DEBUG:`, in a function that only a framework or another file calls. So nothing is said in a file

- that was not executed in whole as a script: a statement did not run, a function has no caller in the file, a path
  ended in an error (silenced or not) or was cut off, a part does not parse;
- that another file of the project may import. That does not depend on which files are checked together.

## Fix safety
Only the comment, or what is unused in its list, is removed, at both ends of a range. `--fix`, `source.fixAll.tapelint`
and fixing on save leave it alone, with `--unsafe-fixes` too, unless the rule is selected by name (`TL901` or `TL9`, not
`ALL`): with `--fix --extend-select TL901`, or `extend-select = ["TL901"]` in the configuration. In the editor the
comment is faded, and it is a quick fix there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...severity import Severity
from ...source import Form, Listed, Span, Suppression
from ..support.comments import code_of, is_ours, without
from ..support.finding import FileSummary, Rule, TextFinding


def review(examined: FileSummary) -> Iterator[TextFinding]:
    found = list(_unused(examined))
    if found and examined.is_certain():
        yield from found


def _unused(examined: FileSummary) -> Iterator[TextFinding]:
    for entry in examined.source.suppressions.entries:
        silenced = {code for code, row in examined.seen if entry.covers(code, row, examined.names[code])}
        listed = entry.says.listed
        where = "in this file" if entry.is_for_file else "in this range" if entry.says.form is Form.DISABLE else "here"
        if listed is None:
            if is_ours(entry.says) and not silenced:
                yield _finding(examined, entry, (), "This comment silences nothing")
            continue
        unused = [*_unused_words(examined, listed, silenced)]
        if len(unused) < len(listed):
            for word, is_twice in unused:
                says = "is listed twice" if is_twice else f"silences nothing {where}"
                yield _finding(examined, entry, [word], f"`{word.text}` {says}", word.span)
        elif unused:
            what = "This comment" if unused[1:] else f"`{unused[0][0].text}`"
            yield _finding(examined, entry, [word for word, _ in unused], f"{what} silences nothing {where}")


def _unused_words(examined: FileSummary, listed: Sequence[Listed], silenced: set[str]) -> Iterator[tuple[Listed, bool]]:
    """The words of a list that silence nothing, or nothing more since the rule stands in the list before: then True."""
    before: set[str | None] = set()
    for word in listed:
        code = code_of(word, examined.names)
        if code in examined.asked and (code not in silenced or code in before):
            yield word, code in silenced
        before.add(code)


def _finding(
    examined: FileSummary, entry: Suppression, words: Sequence[Listed], message: str, span: Span | None = None
) -> TextFinding:
    return TextFinding(
        span=span or entry.span,
        severity=Severity.HINT,
        message=message,
        title=f"Remove {' and '.join(word.text for word in words) or 'the comment'}",
        edits=without(examined.source, entry, words),
        is_unnecessary=True,
        end=_other_end(entry, words),
    )


def _other_end(entry: Suppression, words: Sequence[Listed]) -> Span | None:
    """Where the end of a range says what the ``words`` of its beginning say: both list the same, in order."""
    if entry.end is None or not entry.says.listed or not entry.end.listed:
        return None
    if len(words) == len(entry.says.listed):
        return entry.end.span
    return next((end.span for begin, end in zip(entry.says.listed, entry.end.listed) if begin in words), None)


RULE = Rule("TL901", "unused-suppression", "a comment silences nothing", __doc__, review=review, answerable=True)
