"""Paths that are not followed to their end: Python itself raised and nothing caught that, or there were too many.

What keeps another path from being one of them is no choice that a finding depends on, as far as tapelint has seen.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...autograd.model.choices import Conjunction, Guard

MAX_ABANDONED = 256
"""Conjunctions that are kept of one unit."""


@dataclass(slots=True)
class AbandonedPaths:
    """The guards of the paths of one unit that ended beside others that went on."""

    # In order, each once.
    guards: dict[Conjunction, None] = field(default_factory=dict)

    def add(self, guard: Guard) -> None:
        if len(self.guards) < MAX_ABANDONED:
            self.guards.update(dict.fromkeys(guard))
