"""A comment silences nothing.

## What it does
Reports `# tapelint: ignore`, `# tapelint: ignore[...]`, `# tapelint: ignore-file` and codes of tapelint in a `# noqa`
where there is nothing to silence. A bare `# noqa` and codes of other tools are none of its business, nor is a
file that could be executed only in part.

## Why PyTorch fails
It does not. But the comment tells readers of a hazard that is not there any more, and would hide the next one. A
comment without codes does not silence this rule; `# tapelint: ignore[TL901]` does.

A hazard may also show only when another file, which imports this one, is checked: then keep the comment.

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
Only the comment, or one code in it, is removed.
"""

from __future__ import annotations

from collections.abc import Iterator

from .comments import OURS, is_ours, without
from .finding import Examined, Remark, Rule


def review(examined: Examined) -> Iterator[Remark]:
    if not examined.is_complete:
        return
    source = examined.source
    for entry in source.suppressions.entries:
        silenced = {code for code, row in examined.seen if entry.covers(code, row)}
        if entry.codes is None:
            if is_ours(source, entry) and not silenced:
                words = "this comment silences nothing"
                yield Remark(
                    entry.span, "hint", f"{words}: remove it.", "Remove the comment", without(source, entry, ())
                )
            continue
        listed = {code for code in entry.codes if OURS.fullmatch(code) and code in examined.asked}
        unused = sorted(listed - silenced)
        if unused:
            names = " and ".join(unused)
            edits = without(source, entry, unused)
            yield Remark(entry.span, "hint", f"there is no {names} here to be silenced.", f"Remove {names}", edits)


RULE = Rule("TL901", "unused-suppression", "a comment silences nothing", __doc__, review=review)
