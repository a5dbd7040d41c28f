"""Why a finding has no fix: a clause for "No safe fix: ..."."""

from __future__ import annotations

from collections.abc import Iterable

from ..rules import Finding
from ..source import Source

HARM = "leaves the error, brings another one or takes gradients away"


def no_fix(finding: Finding, tried: int, others: Iterable[Source]) -> str | None:
    """Why none of the edits of ``finding`` is offered: so many were ``tried`` and judged, the rest may be for
    ``others``, files that are not edited. None where PyTorch does not raise.
    """
    if not finding.raises:
        return None
    if tried:
        return (
            f"the one edit that was tried {HARM}" if tried == 1 else f"each of the {tried} edits that were tried {HARM}"
        )
    if any(other.holds(target) for other in others for cure in finding.cures for target in cure.targets):
        return "what would have to change stands in a file that is not checked"
    if finding.cures:
        return finding.no_fix or "the edit that would help does not fit the code as it is written"
    return finding.no_fix or "how to change it depends on what the program is meant to compute"
