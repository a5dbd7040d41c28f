"""The steps of a finding's story, each in a sentence and in the few words that fit behind a line of code.

    h = torch.tanh(x @ w)      1 saved by `tanh`, version 0
    h += 1                     2 written, version 1
    h.sum().backward()         3 needs version 0: raises

The line at which PyTorch raises is one of them. Where a finding is reported at that line, its message is the sentence,
and no step repeats it: only the few words are shown (``at_its_own_place``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..frozen import frozen
from ..headline import capitalized
from ..rules import Finding, TraceStep
from ..rules.support.story import brief_moments, moments

RAISES = "raises"


@frozen
class StoryStep:
    """What happened at ``node``, as a sentence and in a few words, and in which calls, outermost first."""

    node: ast.AST
    text: str
    short: str
    calls: tuple[ast.AST, ...] = ()


def in_order(finding: Finding) -> Iterator[StoryStep]:
    """The steps of a finding's story that have a place; the line at which PyTorch raises is one of them."""
    links = _links(finding)
    sentences = zip(links, moments([link.when for link in links]), _short(finding, links))
    for link, moment, short in sentences:
        if hasattr(link.node, "lineno"):
            calls = tuple(link.when.calls) if link.when is not None else ()
            yield StoryStep(link.node, capitalized(_timed(link.text, moment)), short, calls)


def at_its_own_place(finding: Finding) -> str:
    """What happens where a finding is reported, in a few words, if PyTorch raises there and no step says so."""
    links = _links(finding)
    return _short(finding, links)[-1] if _raises_itself(finding, links) else ""


def _links(finding: Finding) -> list[TraceStep]:
    links, raiser = [*finding.links], finding.raiser
    if finding.raises and raiser is not None and all(node is not raiser for node in (finding.node, *_nodes(links))):
        links.append(TraceStep(raiser, "PyTorch raises here", finding.point, finding.short))
    return links


def _short(finding: Finding, links: list[TraceStep]) -> list[str]:
    """The few words of each step, then those of the finding's own place if that ``_raises_itself``."""
    if _raises_itself(finding, links):
        links = [*links, TraceStep(finding.node, RAISES, finding.point, finding.short)]
    ends = [i for i, link in enumerate(links) if link.node is finding.raiser] if finding.raises else []
    words = [link.short or link.text for link in links]
    for last in ends[-1:]:
        words[last] = f"{links[last].short}: {RAISES}" if links[last].short else RAISES
    return [_timed(text, moment) for text, moment in zip(words, brief_moments([link.when for link in links]))]


def _raises_itself(finding: Finding, links: list[TraceStep]) -> bool:
    """Whether PyTorch raises where the finding is reported, in an iteration or call that no step is of."""
    if not finding.raises or finding.raiser is not finding.node:
        return False
    return all(link.node is not finding.node or link.when != finding.point for link in links)


def _timed(text: str, moment: str) -> str:
    return f"{text} ({moment})" if moment else text


def _nodes(links: list[TraceStep]) -> Iterator[ast.AST]:
    return (link.node for link in links)
