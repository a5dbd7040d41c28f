"""docs/errors.md: each of PyTorch's error texts that a rule predicts as a heading, so that a search finds it."""

from __future__ import annotations

from collections.abc import Iterator

from .rulepages import chapter, chapters, messages

INTRODUCTION = """\
# You came with an error message

<!-- made by `python -m tools.docs` from server/tapelint/rules: change it there -->

These are the errors of PyTorch that tapelint predicts, and its warnings of the same mistakes, in PyTorch's own words,
without what differs from run to run. Below each is what may have led there, with a page that has an example and what
to write instead. To have it looked up for your own program, give tapelint the traceback:
`python train.py 2>&1 | tapelint explain`."""


def page(semantics: str) -> str:
    """The page; ``semantics`` is docs/semantics.md."""
    return "\n".join(lines(chapters(semantics))) + "\n"


def lines(chapters: dict[str, str]) -> Iterator[str]:
    """Its lines, with links to ``chapters``."""
    yield INTRODUCTION
    for message, rules in sorted(messages().items(), key=lambda item: item[1][0].code):
        yield from ("", f"## {message}", "")
        for rule in rules:
            yield f"- [{rule.code} {rule.name}](rules/{rule.code}.md): {rule.summary}"
        if read := chapter(message, chapters):
            yield from ("", f"What PyTorch does there: {read}.")
