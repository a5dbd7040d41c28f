"""A fix is offered only if the edited program raises no error that it did not raise before."""

from __future__ import annotations

from tapelint.analysis import analyse, fixes
from tapelint.severity import Severity
from tapelint.source import apply

SUMMED = """import torch
from torch import nn

layers = [nn.Linear(4, 4) for _ in range(3)]
for x in torch.randn(5, 2, 4):
    hidden = []
    for layer in layers:
        x = torch.tanh(layer(x))
        hidden.append(x)
    loss = 0
    for h in hidden:
        loss = loss + h.pow(2).mean()
        loss.backward(retain_graph=True)
"""


def test_fixes_of_silent_hazards_do_not_raise() -> None:
    """Detaching the running sum between the layers would leave ``loss.backward()`` without a graph."""
    report = analyse(SUMMED)
    assert [d.code for d in report.diagnostics] == ["TL104"]
    for diagnostic in report.diagnostics:
        for fix in fixes(report, diagnostic):
            text = apply(SUMMED, fix.edits)
            assert not [d for d in analyse(text).diagnostics if d.severity is Severity.ERROR], text
