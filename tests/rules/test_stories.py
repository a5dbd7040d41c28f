"""The steps of a story that no message repeats."""

from __future__ import annotations

from tapelint.analysis import analyse

COPIED = """
import numpy as np
import torch
logits = torch.ones(3, requires_grad=True)
out = torch.sigmoid(logits)
out[out > 0.5] = 1
print(np.array(out[0]))
"""


def test_a_tensor_that_is_copied_out_got_its_graph_where_it_was_computed() -> None:
    found = analyse(COPIED, "train.py").diagnostics[0]
    assert found.code == "TL306"
    assert [(step.span.row, step.message) for step in found.related] == [
        (5, "`torch.sigmoid(logits)` gives `out` its `grad_fn`")
    ]


def test_a_conversion_in_the_expression_that_computes_has_no_such_step() -> None:
    text = COPIED.replace("print(np.array(out[0]))", "print((logits * 2).numpy())")
    assert analyse(text, "train.py").diagnostics[0].related == ()
