"""A comment names a rule that does not exist, or has no form that is read.

## What it does
Reports a word in the list of a `# tapelint:` comment that is neither the code nor the name of a rule, and one in a
`# noqa` that looks like a code of tapelint. Beginnings of codes count as unknown: comments take whole codes.

It also reports a comment that does not do what it looks like: an unknown form (`# tapelint: file-ignore`), an empty
list, a bracket that is not closed, codes without brackets, a `disable` or an `enable` beside code or at another
indentation than its block, an `enable` that ends nothing. A `disable` without `enable`, which reaches to the end of its
block, is a hint where it silences something.

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

## Fix safety
Only the code is removed, and the comment if it has no other; a form or brackets are put right where it is clear what is
meant, else the comment is removed. A newer tapelint may know the code, so `--fix` and
`source.fixAll.tapelint` do so only where the rule is selected by name (`--fix --extend-select TL902`).
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from ...severity import Severity
from ..support.comments import OURS, code_of, is_ours, without
from ..support.finding import FileSummary, Rule, TextFinding
from ..support.flawed_comments import flaws


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
