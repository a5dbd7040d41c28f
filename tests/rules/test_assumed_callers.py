"""Stories in which a function stands for its caller, which is assumed to go backward through the result."""

from __future__ import annotations

import pytest
from tests.shared_programs import KEEPING

from tapelint.analysis import analyse

WRITTEN = """import torch
from torch import nn
class Block(nn.Module):
    def forward(self, x):
        y = x.exp()
        y += 1
        return y
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (KEEPING, "A backward through the result of `forward` frees it"),
        (WRITTEN, "A backward through the result of `forward` runs that of `exp`, which needs version 0"),
    ],
)
def test_the_function_is_shown_by_its_name_and_said_to_have_a_caller(text: str, said: str) -> None:
    (finding,) = analyse(text, "net.py").diagnostics
    (step,) = (each for each in finding.steps if each.message.startswith("A backward"))
    assert step.message == said
    row = text.splitlines()[step.span.row - 1]
    assert step.span.row == step.span.end_row
    assert row[step.span.column - 1 : step.span.end_column - 1] == "forward"


def test_a_finding_about_a_function_is_reported_at_its_name() -> None:
    (finding,) = analyse(KEEPING, "net.py").diagnostics
    row = KEEPING.splitlines()[finding.span.row - 1]
    assert finding.span.row == finding.span.end_row
    assert row[finding.span.column - 1 : finding.span.end_column - 1] == "forward"
