"""Tensors made under ``torch.inference_mode()``: they have no version counter, so autograd keeps away from them.

with torch.inference_mode(): x = torch.ones(3)
w * x      # refused: w's gradient needs x, and no code could tell whether it is written meanwhile
x += 1     # refused
w + x      # fine: nothing is saved
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ..events.broken_graph import InferenceTensorUsed
from ..facts import Facts
from ..state import AutogradState
from .graph import Tensor
from .writes import TorchRaises


def refuse_saved(facts: Facts, state: AutogradState, saved: Iterable[Tensor], op: str, node: ast.AST) -> None:
    """Raise Refused where an op would save an inference tensor for backward. At a level of its own a tensor is wrapped
    before it is saved; whether it is saved outside too is not known yet.
    """
    for tensor in saved:
        if tensor.inference and not facts.running.levels:
            point, made = state.point(node), tensor.created_at
            facts.events.publish(InferenceTensorUsed(point=point, tensor=tensor.id, how="saved", op=op, made=made))
            raise TorchRaises("Inference tensors cannot be saved for backward.")


def check_inference_write(facts: Facts, state: AutogradState, tensor: Tensor, op: str, node: ast.AST) -> None:
    """Raise Refused where an inference tensor is written outside inference mode. What ``detach()`` and ``.data`` make
    of it there is none in this one respect.
    """
    detached = tensor.base is None and tensor.storage != tensor.id and tensor.view != "inference"
    if tensor.inference and not state.inference and not detached:
        facts.events.publish(
            InferenceTensorUsed(point=state.point(node), tensor=tensor.id, how="written", op=op, made=tensor.created_at)
        )
        raise TorchRaises("Inplace update to inference tensor outside InferenceMode is not allowed.")
