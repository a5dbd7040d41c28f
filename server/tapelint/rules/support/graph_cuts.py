"""What ended a graph, in words, and what keeps it."""

from __future__ import annotations

import ast

from ...autograd.model.cuts import Cut, CutReason
from ...headline import titled
from .cure import UPDATE, FixProposal

GRADIENT = "Pass `create_graph=True` to the call that computes the gradient."
REASONS = {
    CutReason.CREATE_GRAPH: "the gradient was computed without `create_graph=True`",
    CutReason.LINEAR: "the gradient of a linear function is constant",
    CutReason.INFERENCE_MODE: "it was computed under `torch.inference_mode()`",
    CutReason.NO_GRAD: "it was computed under `torch.no_grad()`",
    CutReason.DATA: "`.data` gives the values without their graph",
    **dict.fromkeys(
        (CutReason.LOSSES, CutReason.TENSOR_LIST),
        "the tensors in the list are copied as numbers",
    ),
    CutReason.NUMPY: "what NumPy computes has no graph",
    CutReason.NUMBER: "it was computed from a Python number, which has no graph",
    CutReason.NUMBERS: "it was computed from Python numbers, which have no graph",
    CutReason.NUMBER_LIST: "it was made of Python numbers, which have no graph",
}
GRADIENT_GRAPH = "Pass `create_graph=True` where the gradient is computed"
NO_NUMBER = "Use the tensor itself instead of a number"
NO_NUMBER_EFFECT = "Whatever else reads it gets a tensor, too."
ADVICE = {
    CutReason.CREATE_GRAPH: GRADIENT,
    CutReason.LINEAR: "Leave this term out: the gradient of a linear function trains nothing.",
    CutReason.INFERENCE_MODE: "Compute it outside of `torch.inference_mode()`.",
    CutReason.NO_GRAD: "Compute it outside of `torch.no_grad()`.",
    CutReason.DETACH: "Leave out `detach()` on the way to the loss; detach only what is logged.",
    CutReason.DATA: "Use the tensor itself instead of its `.data`.",
    **dict.fromkeys(
        (CutReason.LOSSES, CutReason.TENSOR_LIST, CutReason.NUMBER_LIST, CutReason.REMADE),
        "Keep the tensors themselves: `torch.stack(values)` keeps their graphs, `torch.tensor(values)` does not.",
    ),
    **dict.fromkeys(
        (CutReason.ITEM, CutReason.READ, CutReason.NUMBER, CutReason.NUMBERS),
        "Compute with the tensor itself: read it as a number (`.item()`) only where it is logged.",
    ),
    CutReason.NUMPY: "Compute it with torch operations instead of NumPy's.",
    CutReason.OPERATION: "Compute the loss with operations that have a gradient.",
}
"""What to do, by what cut the graph."""


def require_grad(name: str) -> str:
    """The title of a cure that lets a tensor require grad."""
    return titled("Set `requires_grad=True` on {}", name)


def reason_of(cut: Cut) -> str:
    """Why a graph ends at ``cut``, as a clause."""
    return REASONS.get(cut.reason, f"`{cut.name}` gives a tensor without a graph")


def cures(cut: Cut) -> list[FixProposal]:
    """What keeps the graph that was lost at ``cut``."""
    found: list[FixProposal] = []
    node, reason, wrapped = cut.point.node, cut.reason, cut.wrapped
    if reason is CutReason.CREATE_GRAPH:
        found.append(FixProposal("create_graph", GRADIENT_GRAPH, (node,)))
    if reason is CutReason.NO_GRAD:
        found.append(FixProposal("inplace_update", UPDATE, (node,)))
    if reason in (CutReason.NO_GRAD, CutReason.INFERENCE_MODE):
        for place in (node, *reversed(cut.point.calls)):
            found.append(FixProposal("enable_grad", "Switch gradients on where the graph is built", (place,)))
    if reason in (CutReason.REMADE, CutReason.ITEM, CutReason.OPERATION):
        found.append(FixProposal("unwrap", "Use the tensor itself", (node,)))
    if reason is CutReason.LOSSES:
        found.append(FixProposal("stack", "Join them with `torch.stack` to keep their graphs", (node,)))
    if wrapped is not None and not _inside(node, wrapped.node):
        again = FixProposal("stack" if reason is CutReason.NUMBER_LIST else "unwrap", "", (wrapped.node,))
        found.append(FixProposal("remove_call", NO_NUMBER, (node,), "unsafe", (again,), NO_NUMBER_EFFECT))
    is_detached = reason in (CutReason.DETACH, CutReason.DATA) or cut.name == "detach_"
    if isinstance(node, (ast.Call, ast.Attribute)) and is_detached:
        found.append(FixProposal("remove_call", f"Remove `{cut.name}` to keep the graph", (node,)))
    return found


def _inside(node: ast.AST, call: ast.AST) -> bool:
    return isinstance(call, ast.Call) and node in call.args
