"""In-place writes: whether autograd minds, and why.

y = x * 2;      y += 1    safe: `mul` keeps only the number, nothing saved y
y = x.exp();    y += 1    `exp` saved its result: a backward through it raises
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..autograd import Node, ProgramPoint, Tensor, Write
from ..autograd.events.graph_walks import LeafWritten, SavedTensorModified
from ..frozen import frozen
from ..recording.record import Recording, Sight, graph
from ..recording.wording import by_lap, is_number, may_save_more, role, saves_result
from ..rules.support.story import code

LEAF = (
    "**raises here**: a leaf that requires grad must not be written in place while autograd records; "
    "under `torch.no_grad()` it may be, that is how optimizers update"
)
NOTHING = "safe: nothing saved"


@frozen
class Verdict:
    """What is said of one evaluation of a write; ``write`` is None where it raises or writes nothing in place."""

    text: str
    write: Write | None = None
    reason: str = ""


def describe(record: Recording, place: ast.AST, operand: ast.expr) -> list[str] | None:
    """The lines about a write by ``place`` to ``operand``; None where nothing is written in place."""
    seen = [s for s in record.seen(operand) if s.tensors]
    found = [(s, said) for s in seen if (said := _judged(record, place, operand, s)) is not None]
    writes = [said.write for _, said in found if said.write is not None]
    how = writes[-1].op if writes else ""
    if not how and not any(said.text == LEAF for _, said in found):
        return None
    name = f" (`{how}`)" if how.endswith("_") else ""
    lines = [f"**{code(place)}** · writes {code(operand)} in place{name}"]
    lines.append(f"- {_summary(found)}")
    if any(s.grad_mode is False and said.write is not None for s, said in found):
        lines.append(
            "- `torch.no_grad()` changes nothing about that: the write is not recorded, but it counts for saved tensors"
        )
    lines += graph_gained(seen, place)
    return lines


def _summary(found: Sequence[tuple[Sight, Verdict]]) -> str:
    """What holds in which iteration, or in all of them, and why nothing saved the tensor if there is one reason."""
    remarks = [(seen.point, said.text) for seen, said in found]
    reasons = {said.reason for _, said in found if said.text.startswith(NOTHING)}
    return by_lap(remarks) or remarks[-1][1] + (reasons.pop() if len(reasons) == 1 else "")


def _judged(record: Recording, place: ast.AST, operand: ast.expr, seen: Sight) -> Verdict | None:
    """The verdict on one evaluation; None where the operand was seen after the write, or a call writes nothing."""
    tensor = seen.tensors[0]
    point = ProgramPoint(place, seen.point.iterations, seen.point.calls)
    after = seen.write is not None and seen.write.point == point
    if after and operand is not place:
        return None
    if any(isinstance(trouble, LeafWritten) and trouble.point == point for trouble in record.troubles):
        return Verdict(LEAF)
    write = seen.write if after else _write_by(record, tensor, point, seen.version)
    if write is None:
        return None if isinstance(place, ast.Call) else Verdict("not in place here: it makes a new tensor")
    return Verdict(verdict(record, operand, tensor, write, seen), write, because(record, tensor.grad_fn))


def _write_by(record: Recording, tensor: Tensor, point: ProgramPoint, version: int) -> Write | None:
    writes = record.writes.get(tensor.version_counter, {})
    return next((w for w in writes.values() if w.point == point and w.version > version), None)


def verdict(record: Recording, operand: ast.AST, tensor: Tensor, write: Write, seen: Sight) -> str:
    """Whether this write makes a backward raise, as far as the whole execution shows."""
    for trouble in record.troubles:
        if (
            isinstance(trouble, SavedTensorModified)
            and trouble.saved.version_counter == tensor.version_counter
            and trouble.write.point == write.point
        ):
            return (
                f"**raises later**: {record.made_by(trouble.node)} saved it "
                f"{role(trouble.saved)}, and {record.at(trouble.point.node)} needs it unchanged"
            )
    savers = [(node, item) for node, item in record.savers(tensor.version_counter) if item.version < write.version]
    live = [(node, item) for node, item in savers if node not in seen.spent]
    if live:
        none_seen = unseen(record, {node for node, _ in live})
        return f"{record.saved_by(live)}: a backward through that from here on raises{none_seen}"
    if savers:
        used = next((e for e in record.ran(savers[-1][0])), None)
        after = f"{record.at(used.point.node)} has used and freed that" if used is not None else "that is freed already"
        return f"safe: {record.saved_by(savers)}, but {after}"
    doubt = unsure(record, tensor)
    if doubt:
        return f"nothing is known to have saved {code(operand)}, but {doubt}"
    return f"{NOTHING} {code(operand)}"


def unseen(record: Recording, nodes: set[Node]) -> str:
    """That no backward is seen that needs what these have saved; empty where one that raised would have reached one of
    them, too.
    """
    roots = (trouble.path[0] for trouble in record.troubles if not isinstance(trouble, LeafWritten))
    return "" if any(not nodes.isdisjoint(graph(root)) for root in roots) else " (none is seen)"


def unsure(record: Recording, tensor: Tensor) -> str:
    """Why "nothing saved it" cannot be said for certain; empty if it can."""
    if tensor.requires_grad is None or tensor.assumption:
        return "its origin is not known"
    for node in record.users(tensor.version_counter):
        if node.assumption:
            return f"{code(node.created_at.node)} ({record.line(node.created_at.node)}) may keep it"
        if not node.certain or may_save_more(node):
            return f"{record.made_by(node)} may have saved it"
    return ""


def because(record: Recording, producer: Node | None) -> str:
    """Why the operation that made the tensor did not save it."""
    if producer is None or producer.assumption or saves_result(producer):
        return ""
    name = record.made_by(producer)
    if not producer.saves_anything:
        return f", {name} keeps nothing for its backward"
    roles = {item.role for item in producer.saved}
    if roles:
        return f", {name} saved its {'input' if len(producer.saved) == 1 else 'inputs'}, not its result"
    created_at = producer.created_at.node
    if (
        isinstance(created_at, ast.BinOp)
        and producer.op in ("mul", "div")
        and (is_number(created_at.left) or is_number(created_at.right))
    ):
        return f", {name} keeps only the number"
    return f", {name} keeps nothing of its result"


def graph_gained(seen: Sequence[Sight], place: ast.AST) -> list[str]:
    """A plain tensor that a write gives a graph."""
    before = [s for s in seen if s.tensors[0].requires_grad is False]
    after = [s for s in seen if s.write is not None and s.write.point.node is place and s.tensors[0].requires_grad]
    if isinstance(place, ast.AugAssign) and before and after:
        return [f"- from then on {code(place.target)} carries the graph of {code(place.value)}"]
    return []
