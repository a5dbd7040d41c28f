"""What TL101, TL102 and TL103 share: the same error of PyTorch, told apart by where the graph comes from, and its
cures.
"""

from __future__ import annotations

import ast

from ...autograd.events.graph_walks import FreedGraphReached
from ...autograd.facts import Tape
from ...autograd.model.graph import Node
from ...autograd.model.program_point import earlier_lap, loop_around
from .cure import Cure
from .finding import Link
from .story import carried, keeper, op_name, prefix, tensor_name, variable, writer

ERROR = "Trying to backward through the graph a second time"
MOST_HANDED = 6
"""How many arguments are tried for the one that should have been detached: each costs an analysis."""


def carrier(event: FreedGraphReached) -> Node:
    """The first node on the way from the root that is not of this iteration: the value the old graph hangs on."""
    for node in event.path:
        if node is event.shared or earlier_lap(node.born, event.moment) is not None:
            return node
    return event.shared


def before(event: FreedGraphReached, node: Node) -> Node:
    """The node of the present through which ``node`` is reached."""
    return event.path[max(event.path.index(node) - 1, 0)]


def origin(event: FreedGraphReached) -> str:
    """``carried`` from an earlier iteration, built ``outside`` the loop that runs backward, or in the ``same``
    iteration.
    """
    node = carrier(event)
    if earlier_lap(node.born, event.moment) is not None:
        return "carried"
    loop = loop_around(event.moment, node.born)
    if loop is not None and earlier_lap(event.freed.moment, event.moment) is not None:
        return "outside"
    return "same"


def story(event: FreedGraphReached, tape: Tape, ended: str = "this backward freed it") -> tuple[Link, ...]:
    """Built, kept, freed, reached again."""
    shared, node = carrier(event), event.node
    stored = keeper(tape, shared, event.moment)
    name = f"`{stored.target}`" if stored is not None and stored.how in ("assigned", "held") else variable(tape, shared)
    links = [Link(shared.born.node, f"{prefix(shared.born)}{name} built here{saved_by(shared)}")]
    if node is not shared:
        links.append(
            Link(
                node.born.node,
                f"{prefix(node.born)}its graph goes through here: {op_name(node)} saved what it needs for backward",
            )
        )
    for call in shared.born.calls[-1:]:
        links.append(Link(call, f"{prefix(shared.born)}in this call"))
    if stored is not None and stored.statement is not shared.born.node:
        links.append(Link(stored.statement, f"{prefix(stored.moment)}kept in `{stored.target}`"))
    links.append(Link(event.freed.moment.node, f"{prefix(event.freed.moment)}{ended}"))
    young = before(event, shared)
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
        f"`retain_graph=True`, which PyTorch's message suggests, would only change the error: {writer(write)} "
        f"writes {name}, "
        f"which {op_name(node)} saved."
    )


def detaching(event: FreedGraphReached, tape: Tape) -> list[Cure]:
    """Cut the value that is carried: where it is kept, before it is used again, or where it is used."""
    cures: list[Cure] = []
    shared = carrier(event)
    title = f"Detach {carried(tape, shared, event.moment)}"
    effect = "no gradient flows into earlier iterations"
    stored = keeper(tape, shared, event.moment)
    young = before(event, shared)
    loop = earlier_lap(event.freed.moment, event.moment)
    if stored is not None:
        if stored.value is not None and (
            stored.how == "appended" or isinstance(stored.value, (ast.Name, ast.Attribute))
        ):
            cures.append(Cure("detach", f"{title} where it is kept ({effect})", (stored.value,)))
        together = getattr(stored.statement, "value", None)
        if isinstance(together, ast.Tuple) and stored.value in together.elts:
            cures.append(Cure("detach", f"Detach all that is kept with {title[7:]} ({effect})", (together,)))
        state = target_of(stored.statement, stored.target)
        if (
            loop is not None
            and state is not None
            and isinstance(loop.loop, (ast.For, ast.While))
            and stored.how != "appended"
        ):
            first = loop.loop.body[0]
            purpose = "detach_tuple_state" if stored.how == "held" else "detach_state"
            cures.append(Cure(purpose, f"{title} at the start of each iteration ({effect})", (first, state)))
        if state is not None and stored.how != "appended":
            purpose = "detach_tuple_state_after" if stored.how == "held" else "detach_state_after"
            cures.append(Cure(purpose, f"{title} as soon as it is kept ({effect})", (stored.statement, state)))
    for name in readers(young.born.node, stored.target if stored else None):
        cures.append(Cure("detach", f"{title} where it is used ({effect})", (name,)))
    if stored is not None and stored.value is not None and not cures:
        cures.append(Cure("detach", f"{title} where it is kept ({effect})", (stored.value,)))
    return cures


def differentiating(event: FreedGraphReached, tape: Tape) -> list[Cure]:
    """The earlier pass made a gradient that went into this loss: without a graph it changes nothing there."""
    term, node = tape.terms.get(event.root), event.freed.moment.node
    if term is None or term.moment.node is not node:
        return []
    return [Cure("create_graph", "Give the gradient a graph, too: create_graph=True", (node,))]


def clearing(event: FreedGraphReached, tape: Tape) -> list[Cure]:
    """Empty the container that holds what earlier iterations appended."""
    stored = keeper(tape, carrier(event), event.moment)
    function = getattr(stored.statement, "func", None) if stored is not None and stored.how == "appended" else None
    if stored is None or not isinstance(function, ast.Attribute):
        return []
    title = f"Empty `{stored.target}` after the backward (each backward then has its own terms only)"
    return [Cure("clear_after", title, (event.freed.moment.node, function.value))]


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
    ]


def handed(user: Node) -> list[ast.expr]:
    """What was handed to the calls inside of which ``user`` was made, the innermost first: names and attributes."""
    calls = [call for call in reversed(user.born.calls) if isinstance(call, ast.Call)]
    found = [arg for call in calls for arg in (*call.args, *(keyword.value for keyword in call.keywords))]
    return [arg for arg in found if isinstance(arg, (ast.Name, ast.Attribute))][:MOST_HANDED]


def retain_cure(event: FreedGraphReached, grows: bool) -> list[Cure]:
    if event.spoiled is not None:
        return []
    price = "memory grows with every iteration" if grows else "keeps it in memory a little longer"
    if event.stepped and not grows:
        price = "its values stay those from before the step"
    title = f"Keep the graph: retain_graph=True on the earlier backward ({price})"
    return [Cure("retain_graph", title, (event.freed.moment.node,), "unsafe" if grows or event.stepped else "safe")]
