"""A comment silences nothing.

## What it does
Reports `# tapelint: ignore`, `# tapelint: ignore[...]`, `# tapelint: ignore-file` and codes of tapelint in a `# noqa`
where there is nothing to silence. A bare `# noqa` and codes of other tools are none of its business.

It only reports what is certain. A comment may silence what is not seen today: below an error that ended the path,
behind `if DEBUG:`, in a function that only a framework or another file calls. So nothing is said in a file

- that was not executed in whole as a script: a statement did not run, a function has no caller in the file, a path
  ended in an error (silenced or not) or was cut off, a part does not parse;
- that another file of the project may import. That does not depend on which files are checked together.

## Why PyTorch fails
It does not. But the comment tells readers of a hazard that is not there any more, and would hide the next one. A
comment without codes does not silence this rule; `# tapelint: ignore[TL901]` does.

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

## Fix safety
Only the comment, or one code in it, is removed. `--fix`, `source.fixAll.tapelint` and fixing on save leave it alone,
with `--unsafe-fixes` too, unless the rule is selected by name (`TL901` or `TL9`, not `ALL`): with
`--fix --extend-select TL901`, or `extend-select = ["TL901"]` in the configuration. In the editor it is a quick fix at
the comment.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...severity import Severity
from ..support.comments import OURS, is_ours, without
from ..support.finding import FileSummary, Rule, TextFinding


def review(examined: FileSummary) -> Iterator[TextFinding]:
    found = list(_unused(examined))
    if found and examined.is_certain():
        yield from found


def _unused(examined: FileSummary) -> Iterator[TextFinding]:
    source = examined.source
    for entry in source.suppressions.entries:
        silenced = {code for code, row in examined.seen if entry.covers(code, row)}
        if entry.codes is None:
            if is_ours(source, entry) and not silenced:
                words = "this comment silences nothing"
                yield TextFinding(
                    span=entry.span,
                    severity=Severity.HINT,
                    message=f"{words}: remove it.",
                    title="Remove the comment",
                    edits=without(source, entry, ()),
                )
            continue
        listed = {code for code in entry.codes if OURS.fullmatch(code) and code in examined.asked}
        unused = sorted(listed - silenced)
        if unused:
            names = " and ".join(unused)
            edits = without(source, entry, unused)
            yield TextFinding(
                span=entry.span,
                severity=Severity.HINT,
                message=f"there is no {names} here to be silenced.",
                title=f"Remove {names}",
                edits=edits,
            )


RULE = Rule("TL901", "unused-suppression", "a comment silences nothing", __doc__, review=review)
