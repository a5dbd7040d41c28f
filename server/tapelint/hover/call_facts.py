"""What one call does here, by what is called: a backward, a step, a hook. What it is called in the text does not count.

bw = loss.backward
bw()               # still a backward
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from ..domain.values import BoundMethod, BuiltinMethod, External, Value
from ..models.torch.autograd.grad_mode import as_mode
from . import custom_backward, cut_facts, optimizer_steps, passes
from .call_trace import CallRun
from .probe import HoverProbe

About = Callable[[HoverProbe, ast.Call, Sequence[CallRun]], "list[str] | None"]
OWN: dict[str, About] = {
    "step": optimizer_steps.step,
    "zero_grad": optimizer_steps.zero_grad,
    "clip_grad_norm_": optimizer_steps.clip,
    "clip_grad_norm": optimizer_steps.clip,
    "clip_grad_value_": optimizer_steps.clip,
    "register_hook": custom_backward.register_hook,
    "register_post_accumulate_grad_hook": custom_backward.register_hook,
    "requires_grad_": cut_facts.requires_grad,
    "item": cut_facts.number,
    "tolist": cut_facts.number,
    "float": cut_facts.number,
    "int": cut_facts.number,
    "save_for_backward": custom_backward.save_for_backward,
}
"""Calls that are described on their own."""


def describe(probe: HoverProbe, node: ast.expr, around: Sequence[ast.AST]) -> list[str] | None:
    """The lines about a call that is not about the tensor it returns."""
    if isinstance(node, ast.Call) and any(event.point.node is node for event in probe.backwards):
        return passes.describe(probe, node)
    seen = probe.seen(node)
    head = any(isinstance(outer, ast.Call) and outer.func is node for outer in around)
    mode = as_mode(seen[-1].value) if seen and not head else None
    if mode is not None:
        return cut_facts.grad_mode(probe, node, mode, around)
    runs = probe.runs.get(node, ()) if isinstance(node, ast.Call) else ()
    if not runs or not isinstance(node, ast.Call):
        return None
    about = OWN.get(called(runs[-1].callee))
    return about(probe, node, runs) if about is not None else None


def beside(probe: HoverProbe, node: ast.Call) -> list[str]:
    """What a call does, besides the tensor it returns."""
    runs = probe.runs.get(node, ())
    if not runs:
        return []
    name = called(runs[-1].callee)
    if name == "detach":
        return cut_facts.detach(probe, runs)
    if name == "checkpoint":
        return custom_backward.checkpoint(probe, node, runs)
    return custom_backward.applied(probe, node, runs) if name == "apply" else []


def called(value: Value) -> str:
    """The last name of a method or of a function of PyTorch; empty for what the program defines."""
    if isinstance(value, BoundMethod):
        return called(value.function)
    if isinstance(value, BuiltinMethod):
        return value.name
    return value.name.rpartition(".")[2] if isinstance(value, External) else ""
