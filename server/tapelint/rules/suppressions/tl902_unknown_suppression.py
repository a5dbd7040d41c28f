"""A comment names a code that no rule has.

## What it does
Reports a code in `# tapelint: ignore[...]` or `# tapelint: ignore-file[...]` that no rule has, and one in a `# noqa`
that looks like a code of tapelint. Beginnings of codes and names of rules count as unknown: comments take whole codes.

## Why PyTorch fails
It does not. But nothing is silenced by such a code.

## Example
```py
x = torch.ones(3, requires_grad=True)
y = x * 2
y += 1  # tapelint: ignore[TL291] # information: [unknown-suppression] "TL291"
y.sum().backward()  # torch: ok
```

## Use instead
```py
x = torch.ones(3, requires_grad=True)
y = x.exp()
y += 1  # tapelint: ignore[TL201]
y.sum().backward()  # torch: raises "modified by an inplace operation"
```

## Fix safety
Only the code is removed, and the comment if it has no other. A newer tapelint may know the code, so `--fix` and
`source.fixAll.tapelint` do so only where the rule is selected by name (`--fix --extend-select TL902`).
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from ...severity import Severity
from ..support.comments import OURS, is_ours, without
from ..support.finding import FileSummary, Rule, TextFinding


def review(examined: FileSummary) -> Iterator[TextFinding]:
    source, names = examined.source, examined.names
    for entry in source.suppressions.entries:
        for code in sorted(entry.codes or ()):
            if code in names or not (is_ours(source, entry) or OURS.fullmatch(code)):
                continue
            near = [known for known, name in names.items() if name == code.lower()]
            near = near or get_close_matches(code, (known for known in names if len(known) == len(code)), 1, 0.7)
            advice = f"did you mean {near[0]}?" if near else "comments take whole codes."
            message = f"no rule has the code {code}, so this silences nothing; {advice}"
            yield TextFinding(
                span=entry.span,
                severity=Severity.INFORMATION,
                message=message,
                title=f"Remove {code}",
                edits=without(source, entry, [code]),
            )


RULE = Rule("TL902", "unknown-suppression", "a comment names a code that no rule has", __doc__, review=review)
