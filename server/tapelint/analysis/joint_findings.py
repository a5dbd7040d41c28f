"""Findings of one hazard that rest on different assumptions, each on the paths that another one leaves out.

    if x.dim() == 2: y = net(x)        the write below spoils what `net` saved, if `net` keeps a graph,
    else: y = x.exp()                  or what `exp` saved
    x += 1

Each by itself needs a branch. Together they need neither, but the assumptions of both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce

from ..autograd.model.path_guard import PathGuard
from ..ground import RunBy
from ..rules import Finding

AND = " and that "


def joined(findings: Iterable[Finding]) -> list[Finding]:
    """What several findings of a rule at one place say together, where they say the same but for their assumptions and
    suppose the same of the path.
    """
    alike: dict[tuple[str, str | None, RunBy], list[Finding]] = {}
    for each in findings:
        alike.setdefault((each.message, each.point.premise, each.run_by), []).append(each)
    return [_together(some) for some in alike.values() if len(some) > 1]


def _together(some: list[Finding]) -> Finding:
    clauses = dict.fromkeys(part for each in some if each.premise for part in each.premise.split(AND))
    premise = AND.join(clauses) or None
    guard = reduce(PathGuard.either, (each.guard for each in some))
    severity = max(each.severity for each in some)
    return replace(some[0], premise=premise, guard=guard, severity=severity)
