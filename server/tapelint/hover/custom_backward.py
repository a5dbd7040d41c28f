"""What the program's own part in a backward does here: hooks, checkpoints, ``autograd.Function``.

y.register_hook(f)             # f is called by loss.backward(), with the gradient of y
checkpoint(block, x)           # keeps x; block runs again in loss.backward()
ctx.save_for_backward(x)       # keeps x until loss.backward() frees it
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..autograd import Hook, Leaf, ProgramPoint
from ..autograd.events.graph_walks import BackwardRan
from ..recording import Recording
from ..recording.call_runs import CallRun
from ..recording.wording import lines_by_lap, listed, tensors
from ..rules.support.story import code

KINDS = {
    "tensor": "is called with the gradient of {name}, and may replace it",
    "accumulated": "is called with {name} as soon as its `.grad` has been added to",
}


def register_hook(record: Recording, node: ast.Call, runs: Sequence[CallRun]) -> list[str] | None:
    remarks: list[tuple[ProgramPoint, str]] = []
    more: list[tuple[ProgramPoint, str]] = []
    text = ""
    for run in runs:
        new = [key for key in run.after.hooks if key not in run.before.hooks]
        if len(new) != 1 or run.after.hooks[new[0]].kind not in KINDS:
            continue
        hook = run.after.hooks[new[0]]
        name = tensors(record.facts, run.before.owned)
        argument = node.args[0] if node.args else node.keywords[0].value
        text = f"{code(argument)} {KINDS[hook.kind].format(name=name)}"
        remarks.append((run.point, callers(record, run, new[0], hook)))
        others = [old for old in run.before.hooks.values() if old.target == hook.target and old.kind == hook.kind]
        if others:
            count = f"{len(others)} such hook{'s' * (len(others) > 1)}"
            more.append((run.point, f"{name} has {count} already: all are called"))
    if not remarks:
        return None
    return [f"**{code(node)}** · {text}", *lines_by_lap(remarks), *lines_by_lap(more[:1])]


def callers(record: Recording, run: CallRun, handle: int, hook: Hook) -> str:
    """The backward passes that call a hook, until it is removed."""
    gone = record.removed.get(handle)
    passes = [
        e for e in record.events[run.after.heard : gone] if isinstance(e, BackwardRan) and _comes_to(e, hook.target)
    ]
    if passes:
        return f"called by {listed(record.at(e.point.node) for e in passes)}"
    until = "" if gone is None else " before it is removed"
    return f"no backward that is seen here reaches it{until}: it is not called"


def _comes_to(event: BackwardRan, target: object) -> bool:
    return target.tensor in event.reached and event.accumulates if isinstance(target, Leaf) else target in event.ran


def checkpoint(record: Recording, node: ast.Call, runs: Sequence[CallRun]) -> list[str]:
    """What a checkpoint keeps instead of what its operations would save; and when they run again."""
    return lines_by_lap((run.point, _recomputed(record, node, run)) for run in runs)


def _recomputed(record: Recording, node: ast.Call, run: CallRun) -> str:
    mine = [
        item
        for item in record.nodes
        if item.created_at.iterations[: len(run.point.iterations)] == run.point.iterations
        and (item.created_at.node is node or node in item.created_at.calls)
        and any(saved.role == "checkpoint" for saved in item.saved)
    ]
    if not mine:
        return ""
    kept = tensors(record.facts, [saved.tensor for item in mine for saved in item.saved])
    again = listed(record.at(e.point.node) for item in mine for e in record.ran(item))
    then = f", which {again} computes once more" if again else "; a backward computes that once more"
    return f"keeps {kept} and nothing of what is computed inside{then}"


def applied(record: Recording, node: ast.Call, runs: Sequence[CallRun]) -> list[str]:
    """What a Function's node keeps, and which backward runs the one that the program defines."""
    return lines_by_lap((run.point, _custom_node(record, run)) for run in runs)


def _custom_node(record: Recording, run: CallRun) -> str:
    made = next((t.grad_fn for t in run.results if t.grad_fn is not None and t.grad_fn.custom_backward), None)
    if made is None:
        is_never = run.results and all(tensor.requires_grad is False for tensor in run.results)
        return "no input requires grad: its `backward` is never called" if is_never else ""
    saved = tensors(record.facts, [saved.tensor for saved in made.saved]) if made.saved else "no tensor"
    passes = listed(record.at(event.point.node) for event in record.ran(made))
    if not passes:
        return f"it saves {saved}; no backward that is seen here reaches its own `backward`"
    return f"it saves {saved}; its own `backward` runs in {passes}"


def save_for_backward(record: Recording, node: ast.Call, runs: Sequence[CallRun]) -> list[str] | None:
    """What becomes of the tensors that forward saves."""
    lines = lines_by_lap((run.point, _kept_until(record, run)) for run in runs)
    return [f"**{code(node)}** · the node keeps these tensors for its backward", *lines] if lines else None


def _kept_until(record: Recording, run: CallRun) -> str:
    """How long the node of one ``apply`` keeps what its forward saved; empty where nothing is known to be saved."""
    keys = [key for ids in run.given.values() for key in ids]
    apply = run.point.calls[-1] if run.point.calls else None
    if not keys or apply is None:
        return ""
    saved = tensors(record.facts, keys)
    iterations = run.point.iterations
    nodes = (n for n in record.nodes if n.created_at.node is apply and n.created_at.iterations == iterations)
    made = next((n for n in nodes if n.custom_backward), None)
    if made is None:
        return f"{saved}: let go again, as no input of {code(apply)} requires grad"
    freeing = next((event for event in record.ran(made) if event.frees), None)
    until = f"until {record.at(freeing.point.node)} frees it" if freeing else "as long as the graph is there"
    return f"{saved}: kept {until}; written in place meanwhile, it makes `backward` raise"
