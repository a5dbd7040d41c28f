"""What TL101, TL102 and TL103 share: the same error of PyTorch, distinguished by where the graph comes from, and its
cures.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal

from ...autograd.events.graph_walks import FreedGraphReached
from ...autograd.facts import Facts
from ...autograd.model.graph import Node
from ...autograd.model.graph_search import leaf_tensors, nodes_below
from ...autograd.model.program_point import Iteration, earlier_iteration, loop_around
from ...autograd.model.stores import Stored, StoreKind
from ...headline import titled
from ...source import Loop
from .cure import FixProposal
from .finding import TraceStep
from .graph_cuts import GRADIENT_GRAPH
from .story import assumed_pass, carried, keeper, kept_beside, op_name, tensor_name, variable, writer

RETAIN = "Pass `retain_graph=True` to the earlier backward"
OLD_VALUES = "The graph keeps the values from before the step."

ERROR = "Trying to backward through the graph a second time"
UNNAMED = "no one statement keeps what is carried along so that it could be detached there"
"""Why nothing is offered to be detached."""


def carrier(event: FreedGraphReached) -> Node:
    """The first node on the way from the root that is not of this iteration: the value the old graph hangs on."""
    for node in event.path:
        if node is event.shared or earlier_iteration(node.created_at, event.point) is not None:
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
    if earlier_iteration(node.created_at, event.point) is not None:
        return "carried"
    loop = loop_around(event.point, node.created_at)
    if loop is not None and earlier_iteration(event.freed.point, event.point) is not None:
        return "outside"
    return "same"


def story(
    event: FreedGraphReached, facts: Facts, ended: str = "", short: str = "frees the graph"
) -> tuple[TraceStep, ...]:
    """Built, kept, freed (``ended``, in a few words ``short``), reached again."""
    shared, node = carrier(event), event.node
    stored = keeper(facts, shared, event.point)
    name = (
        f"`{stored.target}`"
        if stored is not None and stored.how in (StoreKind.ASSIGNED, StoreKind.HELD)
        else variable(facts, shared)
    )
    links = [TraceStep(shared.created_at.node, computed(name, shared), shared.created_at, short=_built(shared))]
    if node is not shared:
        links.append(
            TraceStep(
                node.created_at.node,
                f"Its graph goes through {op_name(node)}, which saves what its backward needs",
                node.created_at,
                short=f"through {op_name(node)}, which saves",
            )
        )
    if stored is not None and stored.statement is not shared.created_at.node:
        links.append(
            TraceStep(
                stored.statement,
                f"The result is kept in `{stored.target}`",
                stored.point,
                short=f"kept in `{stored.target}`",
            )
        )
    ended = ended or f"{assumed_pass(event.freed.point.node) or 'This backward'} frees it"
    links.append(TraceStep(event.freed.point.node, ended, event.freed.point, short=short))
    young = before(event, shared)
    if young is not shared:
        links.append(TraceStep(young.created_at.node, f"{name} is used again", young.created_at, short="used again"))
    return tuple(links)


def computed(name: str, node: Node) -> str:
    """How a value came to be, and what was saved for its backward."""
    return f"{op_name(node)} computes {name}" + (" and saves what its backward needs" if node.saves_anything else "")


def _built(node: Node) -> str:
    """How a value came to be, in a few words."""
    return f"computed by {op_name(node)}" + (", which saves" if node.saves_anything else "")


def previous(past: Iteration, now: Iteration) -> str:
    """``the previous iteration``, ``an earlier call``."""
    return f"the previous {unit(past)}" if now.number - past.number == 1 else f"an earlier {unit(past)}"


def unit(lap: Iteration) -> str:
    """What happens again and again: an iteration, or a call."""
    return "call" if lap.is_call else "iteration"


def refused(event: FreedGraphReached, facts: Facts) -> str:
    """Why ``retain_graph=True``, PyTorch's own advice, would not help, if it would not."""
    if event.spoiled is None:
        return ""
    node, saved, write = event.spoiled
    name = tensor_name(facts, saved.tensor) or "a tensor"
    return (
        f"`retain_graph=True` would only change the error: {writer(write)} writes {name}, which {op_name(node)} saved."
    )


def detaching(event: FreedGraphReached, facts: Facts) -> list[FixProposal]:
    """Cut the value that is carried: where it is kept, before it is used again, or where it is used. What unknown code
    returned may be a tuple, which cannot be detached: then the user is to look at it.
    """
    cures = _detaching(event, facts)
    is_known = carrier(event).assumption is None
    return cures if is_known else [replace(cure, applicability="unsafe") for cure in cures]


def _detaching(event: FreedGraphReached, facts: Facts) -> list[FixProposal]:
    shared = carrier(event)
    name = carried(facts, shared, event.point)
    past = earlier_iteration(shared.created_at, event.point)
    effect = f"No gradient flows into earlier {unit(past) if past is not None else 'iteration'}s."
    stored = keeper(facts, shared, event.point)
    young = before(event, shared)
    cures: list[FixProposal] = []
    if stored is not None:
        beside = [s for s in kept_beside(facts, shared, stored) if readers(s.statement, s.target)[1:]]
        if beside:
            loop, user = earlier_iteration(event.freed.point, event.point), young.created_at.node
            cures += _detaching_states([*beside, stored], loop, user, effect)
        cures += _detaching_what_is_kept(stored, name, effect)
        cures += _detaching_state(stored, earlier_iteration(event.freed.point, event.point), name, effect)
    for reader in uses_of(young.created_at.node, stored):
        cures.append(FixProposal("detach", detach(name, "where it is used"), (reader,), effect=effect))
    if stored is not None and stored.value is not None and not cures:
        cures.append(FixProposal("detach", detach(name, "where it is kept"), (stored.value,), effect=effect))
    return cures


def detach(name: str, where: str) -> str:
    """The title of a cure that detaches what is called ``name``."""
    return titled(f"Detach {{}} {where}", name)


def into_loop(name: str) -> str:
    """The title of a cure that computes what is called ``name`` in each iteration."""
    return titled("Move {} into the loop", name)


def _detaching_what_is_kept(stored: Stored, name: str, effect: str) -> Iterator[FixProposal]:
    """Detach the value in the statement that keeps it, alone or with what is kept beside it in a tuple."""
    if stored.value is not None and (
        stored.how is StoreKind.APPENDED or isinstance(stored.value, (ast.Name, ast.Attribute))
    ):
        yield FixProposal("detach", detach(name, "where it is kept"), (stored.value,), effect=effect)
    together = getattr(stored.statement, "value", None)
    if isinstance(together, ast.Tuple) and stored.value in together.elts:
        yield FixProposal("detach", detach("all that is kept", f"with {name}"), (together,), effect=effect)


def _detaching_state(stored: Stored, loop: Iteration | None, name: str, effect: str) -> Iterator[FixProposal]:
    """Detach a variable that carries a state: at the start of each iteration, or right after it was assigned."""
    state = target_of(stored.statement, stored.target)
    if state is None or stored.how is StoreKind.APPENDED:
        return
    is_tuple = stored.how is StoreKind.HELD
    if loop is not None and isinstance(loop.loop, Loop):
        purpose = "detach_tuple_state" if is_tuple else "detach_state"
        first = loop.loop.body[0]
        yield FixProposal(purpose, detach(name, "at the start of each iteration"), (first, state), effect=effect)
    purpose = "detach_tuple_state_after" if is_tuple else "detach_state_after"
    yield FixProposal(purpose, detach(name, "as soon as it is kept"), (stored.statement, state), effect=effect)


def _detaching_states(kept: list[Stored], loop: Iteration | None, user: ast.AST, effect: str) -> Iterator[FixProposal]:
    """The same for variables that one statement reads and assigns: ``h, c = cell(x, (h, c))``. ``user`` reads them in
    the next iteration.
    """
    statement = kept[0].statement
    states = [target_of(statement, each.target) for each in kept]
    known = sorted((s for s in states if s is not None), key=lambda state: (state.lineno, state.col_offset))
    if len(known) < len(states):
        return
    name = " and ".join(f"`{ast.unparse(state)}`" for state in known)
    if loop is not None and isinstance(loop.loop, Loop):
        first = loop.loop.body[0]
        title = titled("Detach {} at the start of each iteration", name, "them")
        yield FixProposal("detach_states", title, (first, *known), effect=effect)
    title = titled("Detach {} as soon as they are kept", name, "them")
    yield FixProposal("detach_states_after", title, (statement, *known), effect=effect)
    names = [name for each in kept for name in readers(user, each.target)]
    if names:
        also = tuple(FixProposal("detach", "", (name,)) for name in names[1:])
        title = titled("Detach {} where they are used", name, "them")
        yield FixProposal("detach", title, (names[0],), also=also, effect=effect)


def of_term(event: FreedGraphReached, facts: Facts) -> list[FixProposal]:
    """Go backward from what was added to a running total: the total has had the other terms' gradients already."""
    stored, call = keeper(facts, carrier(event), event.point), event.point.node
    if (
        stored is None
        or not isinstance(stored.statement, (ast.AugAssign, ast.Assign))
        or not isinstance(call, ast.Call)
    ):
        return []
    if not isinstance(call.func, ast.Attribute) or ast.unparse(call.func.value) != stored.target:
        return []
    title = titled("Call backward on what is added to {}", f"`{stored.target}`")
    effect = "The total then adds up detached values."
    return [FixProposal("backward_of_term", title, (stored.statement, call), effect=effect)]


def differentiating(event: FreedGraphReached, facts: Facts) -> list[FixProposal]:
    """The earlier pass made a gradient that went into this loss: without a graph it changes nothing there."""
    term, node = facts.provenance_of(event.root).detached_term, event.freed.point.node
    if term is None or term.point.node is not node:
        return []
    return [FixProposal("create_graph", GRADIENT_GRAPH, (node,))]


def clearing(event: FreedGraphReached, facts: Facts) -> list[FixProposal]:
    """Empty the container that holds what earlier iterations appended."""
    stored = keeper(facts, carrier(event), event.point)
    function = (
        getattr(stored.statement, "func", None) if stored is not None and stored.how is StoreKind.APPENDED else None
    )
    if stored is None or not isinstance(function, ast.Attribute):
        return []
    loop = earlier_iteration(event.freed.point, event.point)
    others = appended_beside(loop.loop, stored.statement, event.freed.point.node) if loop is not None else []
    names = " and ".join(f"`{ast.unparse(each)}`" for each in (function.value, *others))
    title = titled("Empty {} after the backward", names, "what is appended to")
    effect = "Each backward then has its own terms only."
    return [FixProposal("clear_after", title, (event.freed.point.node, function.value, *others), effect=effect)]


def restarting(event: FreedGraphReached, facts: Facts) -> Iterator[FixProposal]:
    """Begin each iteration with the leaf that the carried value began with, as the inner loop of MAML does."""
    node = carrier(event)
    stored, now = keeper(facts, node, event.point), earlier_iteration(event.freed.point, event.point)
    if stored is None or now is None or not isinstance(now.loop, Loop):
        return
    for key in leaf_tensors([node]):
        for first in facts.origins.stored.get(key, ()):
            around = loop_around(event.point, first.point)
            if first.target == stored.target and around is not None and around.loop is now.loop:
                title = titled("Reset {} at the start of each iteration", f"`{first.target}`")
                effect = "Each iteration then begins with the value from before the loop."
                yield FixProposal("move_into_loop", title, (first.statement, now.loop), "unsafe", effect=effect)
                return


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


def uses_of(node: ast.AST, stored: Stored | None) -> list[ast.expr]:
    """The places below ``node`` where the variable is read that was assigned a tensor; a container has no
    ``detach()``.
    """
    return readers(node, stored.target) if stored is not None and stored.how is StoreKind.ASSIGNED else []


def handed(user: Node, most: int = 6) -> list[tuple[ast.Call, ast.expr]]:
    """What was handed to the calls inside of which ``user`` was made, the innermost first: names and attributes, each
    with its call. At ``most`` so many: each that is tried as the one to be detached costs an analysis.
    """
    calls = [call for call in reversed(user.created_at.calls) if isinstance(call, ast.Call)]
    found = [(call, arg) for call in calls for arg in (*call.args, *(keyword.value for keyword in call.keywords))]
    named = [pair for pair in found if isinstance(pair[1], (ast.Name, ast.Attribute))]
    return named[:most]


def retain_cure(event: FreedGraphReached, grows: bool) -> list[FixProposal]:
    if event.spoiled is not None:
        return []
    effect = "Memory grows with every iteration." if grows else "The graph stays in memory a little longer."
    if event.stepped and not grows:
        effect = OLD_VALUES
    is_unsafe = grows or event.stepped
    if event.update is not None and not event.stepped:
        is_unsafe, effect = True, "That backward then also adds gradients to what both share."
        if not spared(event):
            effect = OLD_VALUES
    safety: Literal["safe", "unsafe"] = "unsafe" if is_unsafe else "safe"
    return [FixProposal("retain_graph", RETAIN, (event.freed.point.node,), safety, effect=effect)]


def repeated(event: FreedGraphReached) -> bool:
    """Whether what the earlier backward began at is a part of this root: all its gradients would be added again."""
    return event.freed.root in carrier(event).results


def spared(event: FreedGraphReached) -> bool:
    """Whether an optimizer has stepped between the two backwards, but on nothing that both lead to."""
    return event.update is not None and event.shared in nodes_below(event.update.spared)


def finished(event: FreedGraphReached) -> bool:
    """Whether an optimizer has stepped between the two backwards on all that both lead to, and on nothing else of the
    later one: that is not for it.
    """
    return event.update is not None and event.update.finishes(event.path[0], event.shared)


def appended_beside(loop: ast.AST, append: ast.AST, end: ast.AST) -> list[ast.expr]:
    """The containers that the statement ``append`` (a call) has neighbours for, and that one statement of ``loop`` down
    to the row of ``end`` reads together with its own: lists that grow together, such as ``rewards`` and ``log_probs``.
    Who empties one of them must empty the others, too. None that the loop assigns or clears.
    """
    own = _appended(append)
    if own is None:
        return []
    last = getattr(end, "lineno", 0)
    above = (node for node in ast.walk(loop) if isinstance(node, ast.stmt) and node.lineno <= last)
    read = [names for names in map(_read, above) if ast.unparse(own) in names]
    together = {name for names in read for name in names}
    together -= {ast.unparse(own), *(name for node in ast.walk(loop) for name in _reset(node))}
    return [other for name, other in _neighbours(loop, append).items() if name in together]


def _neighbours(loop: ast.AST, append: ast.AST) -> dict[str, ast.expr]:
    """What the other statements of the suite append to, as it is written there first."""
    found: dict[str, ast.expr] = {}
    for statement in _suite_of(loop, append):
        other = _appended(statement.value) if isinstance(statement, ast.Expr) else None
        if other is not None:
            found.setdefault(ast.unparse(other), other)
    return found


def _appended(call: ast.AST) -> ast.expr | None:
    """What a call appends to."""
    match call:
        case ast.Call(func=ast.Attribute(value=(ast.Name() | ast.Attribute()) as container, attr="append")):
            return container
    return None


def _suite_of(loop: ast.AST, call: ast.AST) -> Iterable[ast.stmt]:
    """The statements of the suite in which a call is a statement."""
    for node in ast.walk(loop):
        for name in ("body", "orelse", "finalbody"):
            suite = getattr(node, name, None)
            if isinstance(suite, list) and any(isinstance(s, ast.Expr) and s.value is call for s in suite):
                return suite
    return ()


def _read(statement: ast.stmt) -> set[str]:
    """The names and attributes that a statement itself reads, without those in its suites."""
    return {ast.unparse(part) for part in _own(statement) if isinstance(part, (ast.Name, ast.Attribute))}


def _own(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            yield child
            yield from _own(child)


def _reset(node: ast.AST) -> Iterator[str]:
    """The names that a node gives a new value, or empties."""
    match node:
        case ast.Call(func=ast.Attribute(value=container, attr="clear")):
            yield ast.unparse(container)
        case ast.Assign() | ast.AnnAssign() | ast.Delete():
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            for part in (inner for target in targets for inner in ast.walk(target)):
                if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)):
                    yield ast.unparse(part.value if isinstance(part, ast.Subscript) else part)
