"""What a loop has counted of which not all iterations are executed is not known: no error rests on it."""

import pytest

from tapelint.analysis import analyse
from tapelint.severity import Severity

COUNTED = """
import sys
import torch
w = torch.ones(2, requires_grad=True)
out, count = torch.zeros(2), 0
for each in {items}:
    count += 1
if count != {number}:
    out = out + w
out.sum().backward()
"""


@pytest.mark.parametrize(
    ("items", "number", "severity"),
    [
        ("range(48)", 3, Severity.WARNING),
        ("sys.argv", 3, Severity.WARNING),
        (repr(tuple(range(48))), 33, Severity.WARNING),
        ("range(3)", 3, Severity.ERROR),
        (repr(tuple(range(14))), 14, Severity.ERROR),
    ],
)
def test_a_count(items: str, number: int, severity: Severity) -> None:
    report = analyse(COUNTED.format(items=items, number=number))
    assert [diagnostic.severity for diagnostic in report.diagnostics] == [severity]
