"""What TL101, TL102 and TL103 share: the same error of PyTorch, told apart by where the graph comes from, and its cures."""

from __future__ import annotations

import ast

from ..tape.events import FreedGraphReached
from ..tape.graph import Node
from ..tape.moment import earlier_lap, loop_around
from ..tape.tape import Tape
from .cure import Cure
from .finding import Link
from .story import carried, keeper, op_name, prefix, tensor_name, variable, writer

ERROR = "Trying to backward through the graph a second time"


def origin(event: FreedGraphReached) -> str:
    """``carried`` from an earlier iteration, built ``outside`` the loop that runs backward, or in the ``same`` iteration."""
    if earlier_lap(event.shared.born, event.moment) is not None:
        return "carried"
    loop = loop_around(event.moment, event.shared.born)
    if loop is not None and earlier_lap(event.freed.moment, event.moment) is not None:
        return "outside"
    return "same"


def story(event: FreedGraphReached, tape: Tape) -> tuple[Link, ...]:
    """Built, kept, freed, reached again."""
    shared, node = event.shared, event.node
    links = [Link(shared.born.node, f"{prefix(shared.born)}{variable(tape, shared)} built here{saved_by(shared)}")]
    if node is not shared:
        links.append(Link(node.born.node, f"{prefix(node.born)}its graph goes through here: {op_name(node)} saved what it needs for backward"))
    stored = keeper(tape, shared)
    if stored is not None and stored.statement is not shared.born.node:
        links.append(Link(stored.statement, f"{prefix(stored.moment)}kept in `{stored.target}`"))
    for call in shared.born.calls[-1:]:
        links.append(Link(call, f"{prefix(shared.born)}in this call"))
    links.append(Link(event.freed.moment.node, f"{prefix(event.freed.moment)}this backward freed it"))
    young = event.path[max(event.path.index(shared) - 1, 0)]
    if young is not shared:
        links.append(Link(young.born.node, f"{prefix(young.born)}used again here"))
    return tuple(links)


def saved_by(node: Node) -> str:
    return f", {op_name(node)} saved what its backward needs" if node.keeps else ""


def retaining(event: FreedGraphReached, tape: Tape, grows: bool) -> str:
    """What ``retain_graph=True``, PyTorch's own advice, would do here."""
    if event.spoiled is None:
        price = "memory grows with every iteration" if grows else "the graph stays in memory until the last backward"
        return f"`retain_graph=True` on the earlier backward would run too; {price}."
    node, saved, write = event.spoiled
    name = tensor_name(tape, saved.tensor) or "a tensor"
    return (
        f"`retain_graph=True`, which PyTorch's message suggests, would only change the error: {writer(write)} writes {name}, "
        f"which {op_name(node)} saved."
    )


def detaching(event: FreedGraphReached, tape: Tape) -> list[Cure]:
    """Cut the value that is carried: where it is kept, before it is used again, or where it is used."""
    cures: list[Cure] = []
    title = f"Detach {carried(tape, event.shared).partition(',')[0]}"
    effect = "no gradient flows into earlier iterations"
    stored = keeper(tape, event.shared)
    young = event.path[max(event.path.index(event.shared) - 1, 0)]
    loop = earlier_lap(event.freed.moment, event.moment)
    if stored is not None:
        if stored.value is not None and (stored.how == "appended" or isinstance(stored.value, (ast.Name, ast.Attribute))):
            cures.append(Cure("detach", f"{title} where it is kept ({effect})", (stored.value,)))
        state = target_of(stored.statement, stored.target)
        if loop is not None and state is not None and isinstance(loop.loop, (ast.For, ast.While)) and stored.how != "appended":
            first = loop.loop.body[0]
            for purpose in ("detach_state", "detach_tuple_state"):
                cures.append(Cure(purpose, f"{title} at the start of each iteration ({effect})", (first, state)))
    for name in readers(young.born.node, stored.target if stored else None):
        cures.append(Cure("detach", f"{title} where it is used ({effect})", (name,)))
    if stored is not None and stored.value is not None and not cures:
        cures.append(Cure("detach", f"{title} where it is kept ({effect})", (stored.value,)))
    return cures


def target_of(statement: ast.AST, name: str) -> ast.expr | None:
    """The target of ``statement`` that is written ``name``."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        targets = [statement.target]
    for target in targets:
        for part in ast.walk(target):
            if isinstance(part, (ast.Name, ast.Attribute)) and ast.unparse(part) == name:
                return part
    return None


def readers(node: ast.AST, name: str | None) -> list[ast.expr]:
    """The places below ``node`` where ``name`` is read."""
    if name is None:
        return []
    return [
        part for part in ast.walk(node) if isinstance(part, (ast.Name, ast.Attribute)) and ast.unparse(part) == name
    ]  # fmt: skip


def retain_cure(event: FreedGraphReached, grows: bool) -> list[Cure]:
    if event.spoiled is not None:
        return []
    price = "memory grows with every iteration" if grows else "keeps it in memory a little longer"
    title = f"Keep the graph: retain_graph=True on the earlier backward ({price})"
    return [Cure("retain_graph", title, (event.freed.moment.node,), "unsafe" if grows else "safe")]
