"""How grave a finding is: the one scale of rules, reports, configuration and editors."""

from __future__ import annotations

from enum import IntEnum


class Severity(IntEnum):
    """The gravest is the smallest; the numbers are those of the language server protocol."""

    ERROR = 1
    WARNING = 2
    INFORMATION = 3
    HINT = 4

    @property
    def word(self) -> str:
        """The name in configurations, comments and output: ``error``, ``warning``, ``information`` or ``hint``."""
        return self.name.lower()
