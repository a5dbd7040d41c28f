"""Each hazard once, the gravest telling of it, in reading order, unless it is silenced."""

from __future__ import annotations

from dataclasses import replace

from tapelint.report import Diagnostic, Related, dedupe_and_grade
from tapelint.severity import Severity
from tapelint.source import Span, parse

ONE = Diagnostic("TL101", "saved-tensor-modified", Severity.ERROR, "spoiled", "a.py", Span(2, 1, 2, 5))
STEP = Related("here", "a.py", Span(1, 1, 1, 2))


def test_one_finding_per_place() -> None:
    weak, long = replace(ONE, severity=Severity.WARNING), replace(ONE, related=(STEP, STEP), message="the long way")
    assert dedupe_and_grade([weak, long, replace(ONE, related=(STEP,)), weak]) == (replace(ONE, related=(STEP,)),)


def test_order_is_that_of_the_text() -> None:
    later, other = replace(ONE, span=Span(3, 1, 3, 2)), replace(ONE, code="TL102")
    first = replace(ONE, span=Span(1, 9, 1, 10), severity=Severity.HINT)
    assert dedupe_and_grade([later, other, ONE, first]) == (first, ONE, other, later)


def test_suppressed_and_deselected_findings() -> None:
    source = parse("a = 1\nb += 1  # tapelint: ignore[TL101]\n")
    other = replace(ONE, code="TL102")
    assert dedupe_and_grade([ONE, other], source.suppressions) == (other,)
    assert dedupe_and_grade([ONE, other], grade=lambda d: Severity.HINT if d is ONE else None) == (
        replace(ONE, severity=Severity.HINT),
    )
