"""The picture of a finding that is about no graph and no gradient: the steps of its story, in the order of time."""

from __future__ import annotations

from collections.abc import Hashable

from ..autograd import ProgramPoint
from ..autograd.state import AutogradState, fresh_id
from ..rules import Finding
from ..rules.support.story import code
from .draft import Draft
from .subject import Subject


def of_story(finding: Finding) -> Subject | None:
    """None where the finding has no steps but its own place."""
    steps = [(link.short or link.text, link.when or ProgramPoint(link.node)) for link in finding.links]
    if finding.point not in [when for _, when in steps]:
        steps.append((finding.short or ("PyTorch raises" if finding.raises else "what is reported"), finding.point))
    if len(steps) < 2:
        return None
    subject = Subject(AutogradState())
    before: Hashable = None
    for index, (words, when) in enumerate(steps):
        key = ("step of the story", index)
        subject.drafts[key] = Draft("moment", words, [code(when.node)], when, fresh_id(), when == finding.point)
        if before is not None:
            subject.arrows.append((before, key, "then", False))
        before = key
    return subject
