"""One hazard is one finding: what several rules, or one rule at several places, say of the same cause is said once.

h = cell(x, h)
h.sum().backward(retain_graph=True)      TL104: `h` carries the graph
optimizer.step()                         TL202: what that graph saved is written. One exception, one finding

out = model(x)                           what is not known may keep a graph
out[0].exp().numpy()                     TL306, if it does
out[1].exp().numpy()                     if it does, this as well: a step of the same story
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable
from dataclasses import replace

from ..rules import Finding, TraceStep
from ..rules.support.cure import FixProposal

Findings = dict[tuple[str, ast.AST], Finding]


def told_once(findings: Findings) -> Findings:
    """The ``findings`` without those that another one tells, and those of one cause as one."""
    left = {key: found for key, found in findings.items() if not _is_less(found, findings)}
    passed = {(code, link.node): found for (code, _), found in left.items() for link in found.links}
    passed |= {(code, found.loop): found for (code, _), found in left.items() if found.loop is not None}
    left = {key: found for key, found in left.items() if not _is_passed(found, passed)}
    return _merged(left)


def _is_less(found: Finding, findings: Findings) -> bool:
    """Whether a rule that says more reports at the same place."""
    return any((code, found.node) in findings for code in found.unless)


def _is_passed(found: Finding, passed: dict[tuple[str, ast.AST], Finding]) -> bool:
    """Whether the story of another finding passes through the place of this one, and tells it."""
    if any((code, found.node) in passed for code in found.part_of):
        return True
    around = (passed.get((code, found.loop)) for code in found.part_of if found.loop is not None)
    if any(other is not None and other.severity <= found.severity for other in around):
        return True
    others = (passed.get((code, found.node)) for code in found.face_of)
    return any(
        other is not None and other.raiser is found.raiser and other.severity <= found.severity for other in others
    )


def _merged(findings: Findings) -> Findings:
    """Those of one rule, one cause and one premise as one, at the first place."""
    alike: dict[Hashable, list[tuple[str, ast.AST]]] = {}
    for key, found in findings.items():
        if found.cause is not None:
            alike.setdefault((found.code, found.cause, found.because, found.rests_on, found.severity), []).append(key)
    for keys in alike.values():
        if len(keys) > 1:
            first, *others = sorted(keys, key=_position)
            findings[first] = _with(findings[first], [findings.pop(key) for key in others])
    return findings


def _position(key: tuple[str, ast.AST]) -> tuple[int, int]:
    node = key[1]
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _with(found: Finding, others: list[Finding]) -> Finding:
    """A finding that tells the ``others`` as well. What cures it cures them, where each has a cure of that kind."""
    places = tuple(TraceStep(other.node, "the same here") for other in others)
    cures = (_at_all(cure, others) for cure in found.cures)
    return replace(found, links=(*found.links, *places), cures=tuple(filter(None, cures)))


def _at_all(cure: FixProposal, others: Iterable[Finding]) -> FixProposal | None:
    """The cure, made at all places at once."""
    also = list(cure.also)
    for other in others:
        same = next((each for each in other.cures if each.purpose == cure.purpose), None)
        if same is None:
            return None
        also += [same, *same.also]
    return replace(cure, also=tuple(also))
