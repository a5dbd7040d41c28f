"""What is known of single lines, in the few words that an editor shows above or behind them.

    y = x.exp()          grad_fn=ExpBackward0, version 0
    y.sum().backward()   frees the graph of 2 operations, fills `.grad` of 1 leaf
    optimizer.step()     writes 20 parameters

It comes from the execution that hovers come from. What is not known, or not the same each time that the line runs, is
left out. An operation is what the program calls: a layer such as `nn.Linear` is one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from ..autograd import Node, ProgramPoint, Tensor
from ..autograd.events.graph_walks import BackwardRan
from ..autograd.events.training_step import OptimizerStepped
from ..domain.values import BuiltinMethod, External, Partial
from ..frozen import frozen
from ..headline import number_of
from ..ops import layers_by_op
from ..recording import Recording, Sight
from ..recording.call_runs import CallRun
from ..recording.wording import NAMELESS, grad_fn, is_conversion, number_of_leaves
from ..source import Source, Span

N = TypeVar("N", bound=ast.AST)


@frozen
class Remark:
    """A few words about the code at ``span``."""

    span: Span
    text: str


def backwards(record: Recording, source: Source) -> Iterator[Remark]:
    """What each call that runs backward frees, and whose gradients it fills."""
    countable = _countable(record)
    halted = {event.point.node for event in record.backwards if event.halted}
    running = {event.point.node for event in record.backwards} - halted
    for node in (call for call in _of(source, ast.Call) if call in running):
        passes = [event for event in record.backwards if event.point.node is node]
        runs = [(run, event) for run in record.runs.get(node, ()) for event in record.passes(run)]
        gains = _same(_gain(record, run, event, countable) for run, event in runs) if len(runs) == len(passes) else ""
        parts = [_same(_fate(record, event) for event in passes), gains]
        if text := ", ".join(filter(None, parts)):
            yield Remark(source.span(node), text)


def steps(record: Recording, source: Source) -> Iterator[Remark]:
    """What each step of an optimizer writes."""
    countable, stepping = _countable(record), {event.point.node for event in record.events if _is_step(event)}
    for node in _of(source, ast.Call):
        runs = [run for run in record.runs.get(node, ()) if node in stepping and any(map(_is_step, record.heard(run)))]
        text = _same(_written(run, countable) for run in runs)
        if text:
            yield Remark(source.span(node), text)


def assignments(record: Recording, source: Source) -> Iterator[Remark]:
    """The ``grad_fn`` and the version of what each assignment to one name or attribute binds."""
    doubtful = _doubtful(record)
    for node in _of(source, ast.Assign, ast.AnnAssign, ast.AugAssign):
        match node:
            case ast.Assign([ast.Name() | ast.Attribute() as target]) | ast.AnnAssign(target, value=ast.expr()):
                seen = (
                    [] if _is_of_tensor(record, target) else record.seen(target)
                )  # not of the value: a call that returns on two paths is seen on one
            case ast.AugAssign(target):
                seen = [each for each in record.seen(target) if _is_written_by(each, node)]
            case _:
                continue
        name = _same(_grad_fn(record, each) for each in seen)
        version = _same(_version(each, doubtful) for each in seen)
        if name:
            yield Remark(source.span(node), ", ".join(filter(None, (name, version))))


def _of(source: Source, *kinds: type[N]) -> Iterator[N]:
    """The nodes of some kinds of the file itself."""
    yield from (node for node in ast.walk(source.tree) if isinstance(node, kinds))


def _same(texts: Iterable[str]) -> str:
    """What all of the texts say; empty where they differ or there are none."""
    found = {*texts}
    return found.pop() if len(found) == 1 else ""


def _fate(record: Recording, event: BackwardRan) -> str:
    """What becomes of the graph."""
    verb = "frees" if event.frees else "keeps" if event.retains else ""
    if (
        not verb
        or event.halted
        or not event.ran
        or not all(_is_counted(record, node, event.point) for node in event.ran)
    ):
        return ""
    return f"{verb} the graph of {number_of(len(event.ran), 'operation')}"


def _is_counted(record: Recording, node: Node, now: ProgramPoint) -> bool:
    """Whether an operation is one node for certain, and there are no more like it from other iterations of a loop: not
    every iteration is executed.
    """
    is_one = not is_conversion(node.created_at.node) and node.op not in NAMELESS and not _is_called_back(record, node)
    return node.certain and not node.assumption and is_one and _is_of(node.created_at, now)


def _is_called_back(record: Recording, node: Node) -> bool:
    """Whether PyTorch has called the code that built a node: ``torch.vmap`` records in its own way."""
    runs = (run for call in node.created_at.calls if isinstance(call, ast.Call) for run in record.runs.get(call, ()))
    called = (run.callee.function if isinstance(run.callee, Partial) else run.callee for run in runs)
    return any(isinstance(callee, (External, BuiltinMethod)) for callee in called)


def _is_of(made: ProgramPoint, now: ProgramPoint) -> bool:
    """Whether something was made in no iterations but those that the program is in."""
    return all(lap in now.iterations for lap in made.iterations)


def _gain(record: Recording, run: CallRun, event: BackwardRan, countable: Mapping[int, Tensor]) -> str:
    """Whose ``.grad`` gets something, for the first time or on top of what is there."""
    doubtful = any(run.before.past(key).doubt for key in event.reached)
    if not event.accumulates or doubtful or not all(_is_counted(record, node, event.point) for node in event.ran):
        return ""
    if not all(key in countable and _is_of(countable[key].created_at, event.point) for key in event.reached):
        return ""
    first = [key for key in event.reached if key not in run.before.grads]
    more = [key for key in event.reached if key in run.before.grads]
    parts = [f"fills `.grad` of {number_of_leaves(len(first))}"] if first else []
    return ", ".join([*parts, *([f"adds to `.grad` of {number_of_leaves(len(more))}"] if more else [])])


def _is_step(event: object) -> bool:
    return isinstance(event, OptimizerStepped)


def _countable(record: Recording) -> Mapping[int, Tensor]:
    """The leaves that are known one by one: tensors that are no parameters, and the parameters of modules that were
    seen to have no others. Where a part of a module is not known, it has more of them than are seen.
    """
    known = {tensor.id: tensor for tensor in _seen(record) if not tensor.parameter and tensor.assumption is None}
    methods = [run.before for runs in record.runs.values() for run in runs if run.before.is_whole is not None]
    for before in methods:
        known.update(before.owned if before.is_whole else {})
    for key in (key for before in methods if not before.is_whole for key in before.owned):
        known.pop(key, None)
    return known


def _is_of_tensor(record: Recording, target: ast.expr) -> bool:
    """Whether an attribute of a tensor is assigned to: ``y.data`` does not give back what was put there."""
    return isinstance(target, ast.Attribute) and any(each.tensors for each in record.seen(target.value))


def _seen(record: Recording) -> Iterator[Tensor]:
    """The tensors that expressions evaluated to."""
    for sights in record.sights.values():
        for each in sights:
            yield from each.tensors


def _written(run: CallRun, countable: Mapping[int, Tensor]) -> str:
    """What one step writes; only what is ``countable`` is counted."""
    before = run.before
    if before.is_partial or any(before.past(key).doubt for key in before.owned):
        return ""
    if not all(key in countable and _is_of(tensor.created_at, run.point) for key, tensor in before.owned.items()):
        return ""
    held = [key for key in before.owned if key in before.grads]
    idle = len(before.owned) - len(held)
    return f"writes {number_of(len(held), 'parameter')}" + (f", {idle} without `.grad`" if idle else "")


def _is_written_by(seen: Sight, node: ast.AST) -> bool:
    return seen.write is not None and seen.write.point.node is node


def _grad_fn(record: Recording, seen: Sight) -> str:
    """The name of the ``grad_fn`` of one value; empty for several tensors, for a leaf, and where it is not known."""
    if len(seen.tensors) != 1 or seen.names != ("",):
        return ""
    (tensor,) = seen.tensors
    node = tensor.grad_fn
    if (
        tensor.requires_grad is not True
        or node is None
        or tensor.id in record.converted
        or _is_called_back(record, node)
    ):
        return ""
    name = "" if node.op in layers_by_op() else grad_fn(node)  # that of a layer depends on sizes and options
    return f"grad_fn={name}" if name else ""


def _version(seen: Sight, doubtful: frozenset[int]) -> str:
    """The version of one value; empty where that is not known, as for those whose counter is among ``doubtful``."""
    if any(tensor.version_counter in doubtful or tensor.assumption for tensor in seen.tensors):
        return ""
    return f"version {seen.version}"


def _doubtful(record: Recording) -> frozenset[int]:
    """The version counters that something unknown may have counted on: code that was given the tensor, or the
    initialization of a parameter.
    """
    owned = (tensor for runs in record.runs.values() for run in runs for tensor in run.before.owned.values())
    parameters = {tensor.version_counter for tensor in (*_seen(record), *owned) if tensor.parameter}
    unknown = (node for node in record.nodes if node.assumption or not node.certain)
    return frozenset(parameters.union(record.shared.get(key, key) for node in unknown for key in node.operand_ids))
