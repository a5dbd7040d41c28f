"""A run as one SARIF log, which lists all rules."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..report.as_sarif import as_failure, as_sarif
from ..report.topics import all_topics
from ..rules import all_rules


def sarif_log(
    results: Sequence[dict[str, Any]],
    notifications: Sequence[dict[str, Any]],
    failures: Sequence[str],
    is_successful: bool,
) -> str:
    """The log; ``failures`` are messages that have no notification of their own."""
    notes = [*notifications, *map(as_failure, failures)]
    return json.dumps(as_sarif(results, all_rules(), notes, all_topics(), is_successful), indent=2)
