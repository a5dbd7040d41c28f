"""What ``tapelint rule CODE`` prints: a rule's page for a reader at a terminal.

    TL201 saved-tensor-modified
    a tensor saved for backward is written in place
      PyTorch    “one of the variables needed for gradient computation has been modified by ...”

    Why PyTorch fails
    ...
    Example
        y = x.exp()
        y += 1  # <- error
        y.sum().backward()  # PyTorch raises “modified by an inplace operation”
    ...

The text is that of the rule's file; what its examples claim for the tests is put in words.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

from ..headline import capitalized
from ..rules import Rule
from ..severity import Severity
from .facts import fixing, severities, story
from .look import Style, plain

SETTINGS = "Severity and settings"
"""The heading of what is known of a rule besides its story."""
WIDTH = 96
"""How wide text is at most: longer lines are hard to read."""

_CLAIM = re.compile(r"#\s*(error|warning|information|hint): \[[\w-]+\](?: \"[^\"]*\")?")
_TORCH = re.compile(r"#\s*torch: (raises|silent|ok)\b ?(?:\"([^\"]*)\"|([^#]*))")
_CODE = re.compile(r"`([^`]+)`")
_NAMED = re.compile(r"\bTL\d{3}\b")


def page(rule: Rule, rules: Sequence[Rule], width: int = WIDTH, style: Style = plain) -> str:
    """The page of ``rule``; ``rules`` are all there are."""
    width = min(width, WIDTH)
    rows = [f"{style('bold', f'{rule.code} {rule.name}')}", *_wrapped(rule.summary, width, "", style)]
    rows += _table([*_quotations(rule)], width, style)
    rows += _sections(story(rule), width, style)
    rows += ["", style("bold", SETTINGS), *_table([*facts(rule, rules)], width, style)]
    rows += _sections(fixing(rule), width, style)
    return "\n".join(rows) + "\n"


def _sections(text: str, width: int, style: Style) -> Iterator[str]:
    for section in text.removeprefix("## ").split("\n## ") if text else ():
        title, _, body = section.partition("\n")
        yield from ("", style("bold", title), *_body(body.strip(), width, style))


def _table(lines: Sequence[tuple[str, list[str]]], width: int, style: Style) -> Iterator[str]:
    for name, texts in lines:
        for index, text in enumerate(texts):
            label = style("help", f"{name if index == 0 else '':<9}")
            first, *others = _wrapped(text, width, " " * 12, style)
            yield from (f"  {label} {first.strip()}", *others)


def facts(rule: Rule, rules: Sequence[Rule]) -> Iterator[tuple[str, list[str]]]:
    """What is known of a rule besides its story and its fixes: labels, each with its lines."""
    yield (
        "severity",
        [" or ".join(severity.word for severity in severities(rule)) + ("" if rule.default else ", off by default")],
    )
    yield "silence", ["no comment does" if rule.notice else f"`# tapelint: ignore[{rule.code}]` on the line"]
    switch = f'`ignore = ["{rule.code}"]`' if rule.default else f'`extend-select = ["{rule.code}"]`'
    yield "configure", [f'{switch} in `[tool.tapelint]`, `{rule.code} = "hint"` in `[tool.tapelint.severities]`']
    related = [f"{other.code} {other.name}" for other in rules if other is not rule and _is_related(rule, other)]
    if related:
        yield "see also", related
    if rule.url:
        yield "online", [rule.url]


def _quotations(rule: Rule) -> Iterator[tuple[str, list[str]]]:
    """What PyTorch itself says of the hazard."""
    for label, messages in (("PyTorch", rule.raises), ("warning", rule.warns)):
        if messages:
            yield label, [f"“{message}”" for message in messages]


def _is_related(rule: Rule, other: Rule) -> bool:
    """Whether two rules judge the same events, or one speaks of the other."""
    return bool({*rule.events} & {*other.events}) or other.code in _NAMED.findall(rule.docs)


def _body(text: str, width: int, style: Style) -> list[str]:
    """Paragraphs wrapped anew, code as it is, an empty row between any two."""
    blocks: list[list[str]] = []
    for index, part in enumerate(re.split(r"^```[^\n]*\n(.*?)^```$\n?", text, flags=re.MULTILINE | re.DOTALL)):
        if index % 2:
            blocks.append([f"    {example(row, style)}".rstrip() for row in part.rstrip().split("\n")])
        else:
            blocks += [_paragraph(p, width, style) for p in part.split("\n\n") if p.strip()]
    return [row for block in blocks for row in ("", *block)][1:]


def _paragraph(text: str, width: int, style: Style) -> list[str]:
    """A paragraph, or the items of a list, each from a row of its own."""
    if not text.lstrip().startswith("- "):
        return _wrapped(text, width, "  ", style)
    items = re.split(r"^- ", text.strip(), flags=re.MULTILINE)[1:]
    wrapped = [_wrapped(item, width, "    ", style) for item in items]
    return [row for first, *others in wrapped for row in (f"  - {first.lstrip()}", *others)]


def example(row: str, style: Style = plain) -> str:
    """A row of code. ``# error: [name]`` and ``# torch: raises`` are for the tests: readers get words."""
    code, found, comment = row.partition("  # ")
    if not found:
        return row
    comment = _CLAIM.sub(lambda m: f"# <- {m[1]}", f"# {comment}")
    comment = _TORCH.sub(_said, comment)
    words = " · ".join(part.strip() for part in comment.split("#") if part.strip())
    severity = next((s.word for s in Severity if words.startswith(f"<- {s.word}")), "help")
    return f"{code}  {style(severity, '# ' + words)}"


def _said(found: re.Match[str]) -> str:
    how, quoted, text = found[1], found[2], (found[3] or "").strip()
    if how == "raises":
        return f"# PyTorch raises “{quoted}”"
    if how == "ok":
        return "# PyTorch runs it"
    return f"# PyTorch says nothing: {text}" if text else "# PyTorch says nothing"


def _wrapped(text: str, width: int, indent: str, style: Style) -> list[str]:
    joined = " ".join(text.split())
    rows = textwrap.wrap(joined, width - len(indent), break_long_words=False, break_on_hyphens=False)
    return [indent + _CODE.sub(lambda m: style("bold", m[0]), row) for row in rows]


_BLOCK = re.compile(r"^```py[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def markdown_page(rule: Rule, rules: Sequence[Rule]) -> str:
    """The page of ``rule`` for an editor: Markdown, complete in itself, so that no address is needed; ``rules`` are all
    there are. What its examples claim for the tests is put in words."""
    rows = [
        f"# {rule.code} {rule.name}",
        "",
        f"{capitalized(rule.summary)}.",
        "",
        *(f"{name}: {'<br>'.join(texts)}\n" for name, texts in _quotations(rule)),
        _BLOCK.sub(_in_words, story(rule)),
        "",
        f"## {SETTINGS}",
        "| | |",
        "|---|---|",
    ]
    rows += [f"| {name} | {'<br>'.join(texts)} |" for name, texts in facts(rule, rules)]
    return "\n".join([*rows, "", fixing(rule)]).rstrip() + "\n"


def _in_words(found: re.Match[str]) -> str:
    code = "\n".join(example(row) for row in found[1].rstrip().split("\n"))
    return f"```python\n{code}\n```"
