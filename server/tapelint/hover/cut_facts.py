"""What keeps operations out of the graph here: ``detach()``, ``no_grad()``, ``requires_grad_()``, ``item()``.

with torch.no_grad():     # keeps `y` out of the graph, which would have had one
    y = x * 2
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..autograd import MANY, Cut, CutReason, Node, ProgramPoint, Tensor
from ..autograd.model.program_point import earlier_iteration
from ..domain.values import BuiltinMethod, External, GradMode, Unknown
from ..recording.call_runs import CallRun
from ..recording.record import Recording, graph, leaves_behind
from ..recording.wording import lines_by_lap, listed, tensors
from ..rules.support.story import code, tensor_name

MODES = (CutReason.NO_GRAD, CutReason.INFERENCE_MODE)


def grad_mode(record: Recording, node: ast.expr, mode: GradMode, around: Sequence[ast.AST]) -> list[str] | None:
    """A grad mode, and what that means for what is computed under it."""
    name = code(node)
    if mode.mode is True:
        return [f"**{name}** · operations are recorded", "- results require grad if one of their inputs does"]
    if mode.mode is None:
        return None
    lines = [f"**{name}** · nothing is recorded", "- results of operations have requires_grad=False and no grad_fn"]
    lines += kept_out(record, node, around)
    if mode.inference:
        return [*lines, "- its results may not be saved for a backward later on, nor written in place outside of it"]
    return [*lines, "- in-place writes still count: writing a saved tensor makes its backward raise here as well"]


def kept_out(record: Recording, node: ast.expr, around: Sequence[ast.AST]) -> list[str]:
    """The results that would have had a graph without it."""
    places: dict[ast.AST, str] = {}
    for key, cut in _cuts_by(record, node, around):
        name = tensor_name(record.facts, key)
        place = cut.point.node
        if place not in places or name and places[place].startswith(code(place)):
            places[place] = f"{name or code(place)} ({record.line(place)})"
    return [f"- kept out of the graph by it: {listed(places.values())}"] if places else []


def _cuts_by(record: Recording, node: ast.expr, around: Sequence[ast.AST]) -> list[tuple[int, Cut]]:
    """The tensors that have no graph because of the grad mode that ``node`` sets, by id."""
    cuts = record.facts.cuts()
    governed = _governed(node, around)
    if governed is None:
        return [(key, cut) for key, cut in cuts if cut.grad_mode_set_at and cut.grad_mode_set_at.node is node]
    inside = {part for statement in governed for part in ast.walk(statement)}
    return [
        (key, cut)
        for key, cut in cuts
        if cut.reason in MODES and not inside.isdisjoint((cut.point.node, *cut.point.calls))
    ]


def _governed(node: ast.expr, around: Sequence[ast.AST]) -> list[ast.stmt] | None:
    """The statements that run in a mode; None where it is switched until further notice."""
    for outer in around:
        if isinstance(outer, (ast.With, ast.AsyncWith)) and any(item.context_expr is node for item in outer.items):
            return outer.body
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node in outer.decorator_list:
            return outer.body
    return None


def detach(record: Recording, runs: Sequence[CallRun]) -> list[str]:
    """What a ``detach()`` cuts off."""
    cut = ((run.point, tensor) for run in runs for tensor in run.before.owned.values())
    return lines_by_lap((point, _cut_off(record, point, tensor)) for point, tensor in cut)


def _cut_off(record: Recording, now: ProgramPoint, tensor: Tensor) -> str:
    if tensor.requires_grad is False:
        return "there is no graph to cut off"
    if (
        tensor.requires_grad is None
        or tensor.grad_fn is None
        or not tensor.grad_fn.certain
        or tensor.grad_fn.assumption
    ):
        return ""
    before = any(earlier_iteration(item.created_at, now) is not None for item in _nodes(tensor))
    leaves = leaves_behind(tensor.grad_fn)
    towards = f": no gradient goes this way to {tensors(record.facts, leaves)}" if leaves else ""
    return f"cuts off the graph{' of earlier iterations' if before else ''}{towards}"


def _nodes(tensor: Tensor) -> Iterator[Node]:
    return (item for item in graph(tensor.grad_fn) if isinstance(item, Node))


def number(record: Recording, node: ast.Call, runs: Sequence[CallRun]) -> list[str] | None:
    """``t.item()``, ``t.tolist()``, ``float(t)``, ``int(t)``: what they return; what becomes of the graph of ``t``."""
    found = _number(node, runs[-1])
    if found is None:
        return None
    what, operand = found
    lines = [f"**{code(node)}** · {what}", "- it holds no graph: keeping it keeps no memory alive"]
    if isinstance(operand, (ast.Name, ast.Attribute)):  # what has no name may go with its graph
        lines += lines_by_lap((run.point, _stays(record, operand, run)) for run in runs)
    return [*lines, "- if the tensor is on a GPU, the program waits here until the GPU has computed it"]


def _number(node: ast.Call, run: CallRun) -> tuple[str, ast.expr] | None:
    """What a call returns that reads a tensor, and that tensor; None where it reads none, or would raise."""
    match run.callee, node.func:
        case BuiltinMethod(name="item"), ast.Attribute(value=operand) if run.before.owned:
            return None if any(map(_has_several, run.before.owned.values())) else ("a Python number", operand)
        case BuiltinMethod(name="tolist"), ast.Attribute(value=operand) if run.before.owned:
            return "a list of Python numbers, or one number", operand
        case External(name="builtins.float" | "builtins.int" as name), _ if node.args and run.given.get(node.args[0]):
            return f"a Python {name.rpartition('.')[2]}", node.args[0]
    return None


def _has_several(tensor: Tensor) -> bool:
    """Whether a tensor is known to have more than one element."""
    sizes = tensor.sizes
    return sizes == MANY or isinstance(sizes, tuple) and any(size is not None and size > 1 for size in sizes)


def _stays(record: Recording, operand: ast.expr, run: CallRun) -> str:
    """What the graph of a tensor is after its elements were read; empty where it has none, or none that is known."""
    cut = record.facts.provenance_of(run.value.tensor_id).cut if isinstance(run.value, Unknown) else None
    if cut is None or cut.point != run.point or cut.source is None or cut.source.assumption or not cut.source.certain:
        return ""
    savers = [item for item in graph(cut.source) if isinstance(item, Node) and item.saves_anything]
    freed = dict.fromkeys(run.before.freed[item].point.node for item in savers if item in run.before.freed)
    if not freed:
        return f"{code(operand)} keeps its graph"
    part = "" if all(item in run.before.freed for item in savers) else "a part of it "
    return f"{code(operand)} keeps its graph, {part}freed by {listed(map(record.at, freed))}"


def requires_grad(record: Recording, node: ast.Call, runs: Sequence[CallRun]) -> list[str] | None:
    """``t.requires_grad_()`` and ``module.requires_grad_(False)``: which flags it changes."""
    lines = lines_by_lap((run.point, _set_flags(record, run)) for run in runs)
    return [f"**{code(node)}** · sets whether gradients are collected", *lines] if lines else None


def _set_flags(record: Recording, run: CallRun) -> str:
    on, off, parts = _changed(run, True), _changed(run, False), []
    if on:
        parts.append(f"{tensors(record.facts, on)} will collect gradients: what is computed from now on is recorded")
    if off:
        parts.append(f"operations do not record {tensors(record.facts, off)} from now on: no gradient goes there")
    if not parts and all(map(_is_known, run.before.owned.values())):
        return "changes nothing: the flag is set like that already"
    return "; ".join(parts)


def _is_known(tensor: Tensor) -> bool:
    made = _nodes(tensor)
    return (
        tensor.requires_grad is not None and not tensor.assumption and all(n.certain and not n.assumption for n in made)
    )


def _changed(run: CallRun, to: bool) -> list[int]:
    before = run.before.owned
    return [
        key
        for key, tensor in run.after.owned.items()
        if key in before and tensor.requires_grad is to and before[key].requires_grad is not to
    ]
