"""What all rules together cost, beside the engine that they watch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tapelint import analysis
from tapelint.analysis import rule_listener

MOST = 0.2
"""What the rules may take of the engine's own time."""


@dataclass(slots=True)
class Cost:
    """Processor time of some analyses, in seconds: in rules, and outside them; and how many events rules were told."""

    rules: float = 0.0
    engine: float = 0.0
    asked: int = 0

    @property
    def share(self) -> float:
        return self.rules / self.engine if self.engine else 0.0


def measure(files: Iterable[tuple[Path, str]]) -> Cost:
    """Analyse ``files`` with a clock around every question to a rule (which counts a little of itself as theirs)."""
    cost = Cost()
    running = rule_listener.running
    rule_listener.running = lambda config: [
        replace(rule, check=_timed(rule.check, cost)) if rule.check else rule for rule in running(config)
    ]
    begin = time.process_time()
    try:
        for path, text in files:
            analysis.analyse(text, str(path))
    finally:
        rule_listener.running = running
    cost.engine = time.process_time() - begin - cost.rules
    return cost


def _timed(check: Callable[..., Any], cost: Cost) -> Callable[..., Any]:
    def ask(*given: Any) -> Any:
        begin = time.process_time()
        try:
            return check(*given)
        finally:
            cost.rules += time.process_time() - begin
            cost.asked += 1

    return ask
