"""Words for what happened: iterations, variables, operations. Every rule speaks through these, so they all sound
alike.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from ...autograd.facts import Facts
from ...autograd.model.graph import Node, SavedTensor, Write
from ...autograd.model.program_point import Iteration, ProgramPoint, earlier_iteration, loop_around, shared_calls
from ...autograd.model.stores import Stored, StoreKind
from ...ops import layers_by_op

SHORT = 40
PARAMETERS = "the parameters of "
"""How the engine calls what stands for all parameters of a network."""


def code(node: ast.AST | None) -> str:
    """Source in backticks, cut to a readable length."""
    if imagined := assumed_pass(node):
        return imagined
    text = ast.unparse(node).partition("\n")[0] if node is not None else "?"
    if len(text) > SHORT and isinstance(node, ast.Call) and (node.args or node.keywords):
        called = f"{ast.unparse(node.func)}(…)"
        text = called if len(called) <= SHORT else text
    return f"`{text if len(text) <= SHORT else text[: SHORT - 1] + '…'}`"


def assumed_pass(node: ast.AST | None) -> str:
    """The pass for which a function stands, where its caller is assumed to go backward; empty for other nodes."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return f"a backward through the result of `{node.name}`"
    return ""


def loop_name(lap: Iteration) -> str:
    loop = lap.loop
    if isinstance(loop, (ast.For, ast.AsyncFor, ast.comprehension)):
        return f"`for {ast.unparse(loop.target).removeprefix('(').removesuffix(')')}`"
    if isinstance(loop, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return f"calls of `{loop.name}`"
    if isinstance(loop, ast.Call):
        return f"{code(loop.func)} (which calls its closure again and again)"
    return "`while`"


def iteration(point: ProgramPoint, lap: Iteration | None = None) -> str:
    """``iteration 2 of `for step` ``, of the given loop or of the innermost one."""
    lap = lap or (point.iterations[-1] if point.iterations else None)
    return f"iteration {lap.number} of {loop_name(lap)}" if lap is not None else "the script"


def lifted(event_calls: tuple[ast.AST, ...], write: ProgramPoint, built: ProgramPoint) -> ast.AST:
    """Where to point for ``write``: at the write, or, if the backward it spoils runs in another call of the same
    helper, at the call that wrote, since the line inside the helper is the same for both.
    """
    common = shared_calls(write.calls, event_calls, built.calls)
    if common < len(write.calls) and common < len(event_calls):
        ours, theirs = write.calls[common], event_calls[common]
        same = (
            isinstance(ours, ast.Call)
            and isinstance(theirs, ast.Call)
            and ast.unparse(ours.func) == ast.unparse(theirs.func)
        )
        if same and ours is not theirs:
            return ours
    return write.node


def moments(points: Sequence[ProgramPoint | None]) -> list[str]:
    """When each step of a story happens, as the program counts: ``"`epoch` is 1"``, ``"iteration 2"``. Empty where that
    is as for the step before, and all through a story in which no iteration changes.
    """
    said: list[str] = []
    before = ""
    for each in _changing(points):
        words = before if each is None else ", ".join(map(moment, each))
        said.append(words if words != before else "")
        before = words
    return said


def brief_moments(points: Sequence[ProgramPoint | None]) -> list[str]:
    """When each step of a story happens, in few words: ``"`epoch` is 1"``, ``"iteration 2"``. Said of every step, since
    lines of code are not read in the order of the story; empty where no iteration changes.
    """
    return [", ".join(map(_counted_briefly, each or ())) for each in _changing(points)]


def _changing(points: Sequence[ProgramPoint | None]) -> list[list[Iteration] | None]:
    """The iterations of each step, of those loops that are in another iteration at some other step."""
    laps = [_laps(point) for point in points]
    known = [each for each in laps if each is not None]
    changing = {lap.loop for each in known for lap in each if any(lap not in other for other in known)}
    return [None if each is None else [lap for lap in each if lap.loop in changing] for each in laps]


def _laps(point: ProgramPoint | None) -> list[Iteration] | None:
    if point is None:
        return None
    return [lap for lap in point.iterations if not isinstance(lap.loop, ast.comprehension)]


def moment(lap: Iteration) -> str:
    """``"`epoch` is 0"`` for the first iteration of ``for epoch in range(3)``, else ``"iteration 1 of `for x`"``."""
    if (value := _value(lap)) is not None:
        return value
    match lap.loop:
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
            return f"call {lap.number} of `{name}`"
        case ast.Call():
            return f"call {lap.number} by {code(lap.loop.func)}"
    return f"iteration {lap.number} of {loop_name(lap)}"


def _counted_briefly(lap: Iteration) -> str:
    """``"`epoch` is 0"`` for the first iteration of ``for epoch in range(3)``, else ``"iteration 1"``."""
    return _value(lap) or f"{'call' if lap.is_call else 'iteration'} {lap.number}"


def _value(lap: Iteration) -> str | None:
    """The variable that counts the iterations of a loop, with its value; None where there is none."""
    match lap.loop:
        case ast.For(ast.Name(name), ast.Call(ast.Name("range"), [_] | [_, _] as given, [])) | ast.For(
            ast.Tuple([ast.Name(name), *_]), ast.Call(ast.Name("enumerate"), [_] | [_, _] as given, [])
        ):
            is_range = isinstance(lap.loop.target, ast.Name)
            start = given[0] if is_range and len(given) == 2 else given[1] if len(given) == 2 else ast.Constant(0)
            if isinstance(start, ast.Constant) and isinstance(start.value, int):
                return f"`{name}` is {start.value + lap.number - 1}"
    return None


def counted(lap: Iteration) -> str:
    """What an iteration of a loop is called: by its variable, if that has a name."""
    loop = lap.loop
    if isinstance(loop, (ast.For, ast.AsyncFor)):
        target = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) and loop.target.elts else loop.target
        name = ast.unparse(target)
        return "round" if name == "_" else f"`{name}`"
    return "call" if lap.is_call else "round"


def variable(facts: Facts, node: Node) -> str:
    """What the program calls the result of ``node``: a name, or the expression that computed it."""
    for key in node.results:
        if key in facts.origins.names:
            return f"`{facts.origins.names[key]}`"
    return code(node.created_at.node)


def tensor_name(facts: Facts, key: int) -> str | None:
    name = facts.origins.names.get(key)
    return None if name is None else _quoted(name)


def _quoted(name: str) -> str:
    """What is code of a name in backticks: the parameters of a network that was not read have none of their own."""
    network = name.removeprefix(PARAMETERS)
    if network != name:
        return f"{PARAMETERS}`{network}`"
    return f"`{name}`" if name.isidentifier() or "." in name or "[" in name else name


def tensor_names(facts: Facts, keys: Iterable[int]) -> str:
    """A few tensors by name: ```w`, `b` and 3 more``; `the parameters`, where none has one."""
    known = [*dict.fromkeys(name for key in keys if (name := tensor_name(facts, key)) is not None)]
    if not known:
        return "the parameters"
    shown, rest = known[:2], len(known) - 2
    return f"{', '.join(shown)} and {rest} more" if rest > 0 else " and ".join(shown)


def verb(names: str) -> str:
    """``is`` for one name, ``are`` for several."""
    one = names.count("`") == 2 and "more" not in names and not names.startswith(PARAMETERS)
    return "is" if one else "are"


def saved_name(facts: Facts, saved: SavedTensor) -> str | None:
    """The saved tensor, or, for a nameless view, the tensor it is a part of (version counters carry their first
    owner's id).
    """
    name = tensor_name(facts, saved.tensor)
    if name is None and saved.version_counter != saved.tensor and saved.version_counter in facts.origins.names:
        return f"`{facts.origins.names[saved.version_counter]}`"
    return name


def keeper(facts: Facts, node: Node, now: ProgramPoint | None = None) -> Stored | None:
    """Where the result of ``node`` was last kept: the variable, attribute or container that carried it on.

    With ``now`` only what was kept before the present iterations counts, as long as there is such a place.
    """
    kept = [
        stored
        for key in node.results
        for stored in facts.origins.stored.get(key, ())
        if stored.how is not StoreKind.ITERATED
    ]
    before = [s for s in kept if now is not None and (earlier_iteration(s.point, now) or loop_around(now, s.point))]
    candidates = before or kept
    return candidates[-1] if candidates else None


def kept_beside(facts: Facts, node: Node, stored: Stored) -> list[Stored]:
    """Where the other results of ``node`` were kept by the statement that kept ``stored``: the `h` beside a `c`."""
    others = (other for key in node.results for other in facts.origins.stored.get(key, ()))
    beside = (other for other in others if other.statement is stored.statement and other.target != stored.target)
    return [*{other.target: other for other in beside}.values()]


def carried(facts: Facts, node: Node, now: ProgramPoint) -> str:
    """What carries the result of ``node`` to ``now``: the variable, attribute or container it was kept in."""
    stored = keeper(facts, node, now)
    return f"`{stored.target}`" if stored is not None else variable(facts, node)


def op_name(node: Node) -> str:
    """The operation as users know it: ``tanh``, ``linear``, ``*``, ``nn.RNNCell``."""
    name = node.op.rpartition(".")[2]
    layer = layers_by_op().get(name)
    return f"`{name}`" if layer is None else f"`nn.{layer}`"


def role(saved: SavedTensor) -> str:
    return (
        "its result"
        if saved.role == "result"
        else "the checkpoint's input"
        if saved.role == "checkpoint"
        else "its input"
        if saved.role in ("self", "input")
        else f"`{saved.role}`"
    )


def writer(write: Write) -> str:
    """Who wrote; where a framework calls a method of the program, its own step comes after that."""
    node = write.point.node
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return f"the step after `{node.name}`"
    return code(node)


def freezer(when: ProgramPoint, now: ProgramPoint) -> tuple[ast.AST, str]:
    """What has made leaves not require grad at a point, and how that is written: the innermost call that does so and
    has returned, if there is one.
    """
    calls = [call for call in (*when.calls, when.node) if isinstance(call, ast.Call) and call not in now.calls]
    by = calls[-1] if calls else when.node
    return by, code(by) if calls else f"`{ast.unparse(by)} = False`"
