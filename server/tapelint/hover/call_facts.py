"""What one call does here, by what is called: a backward, a step, a hook. What it is called in the text does not count.

bw = loss.backward
bw()               # still a backward
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from ..domain.values import BoundMethod, BuiltinMethod, External, Value
from ..models.torch.autograd.grad_mode import as_mode
from ..recording import Recording
from ..recording.call_runs import CallRun
from . import custom_backward, cut_facts, optimizer_steps, passes

About = Callable[[Recording, ast.Call, Sequence[CallRun]], "list[str] | None"]
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


def describe(record: Recording, node: ast.expr, around: Sequence[ast.AST]) -> list[str] | None:
    """The lines about a call that is not about the tensor it returns."""
    if isinstance(node, ast.Call) and any(event.point.node is node for event in record.backwards):
        return passes.describe(record, node)
    seen = record.seen(node)
    head = any(isinstance(outer, ast.Call) and outer.func is node for outer in around)
    mode = as_mode(seen[-1].value) if seen and not head else None
    if mode is not None:
        return cut_facts.grad_mode(record, node, mode, around)
    runs = record.runs.get(node, ()) if isinstance(node, ast.Call) else ()
    if not runs or not isinstance(node, ast.Call):
        return None
    about = OWN.get(called(runs[-1].callee))
    return about(record, node, runs) if about is not None else None


def beside(record: Recording, node: ast.Call) -> list[str]:
    """What a call does, besides the tensor it returns."""
    runs = record.runs.get(node, ())
    if not runs:
        return []
    name = called(runs[-1].callee)
    if name == "detach":
        return cut_facts.detach(record, runs)
    if name == "checkpoint":
        return custom_backward.checkpoint(record, node, runs)
    return custom_backward.applied(record, node, runs) if name == "apply" else []


def called(value: Value) -> str:
    """The last name of a method or of a function of PyTorch; empty for what the program defines."""
    if isinstance(value, BoundMethod):
        return called(value.function)
    if isinstance(value, BuiltinMethod):
        return value.name
    return value.name.rpartition(".")[2] if isinstance(value, External) else ""
