"""The picture of a finding whose event is about no single graph: the steps of its story, in the order of time, and the
tensors of each step as they were then.

    `y = x.detach()` ── uses ──▶ MulBackward0 → `x`
         │ then      ── gives ──▶ tensor `y`, no grad_fn
    `y.backward()`   ── uses ──▶ tensor `y`

What a step uses and gives is read off its syntax: nothing depends on which rule has found it.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from ..autograd import Leaf, ProgramPoint, Tensor, resolve_view
from ..autograd.model.views import edge_of
from ..autograd.state import AutogradState, fresh_id
from ..recording import Recording, Sight
from ..rules import Finding
from ..rules.support.story import code
from .model import DRAWN, SOON, Draft, Relation
from .subject import Subject

HERE = "reported here"
"""The title of a finding's own place, where the finding has no words for it."""


@dataclass(slots=True)
class Step:
    """A step of a story: what it is in a few words, its syntax, and when the program was there. ``stamp`` is None where
    nothing says when that was, but its place in the story.
    """

    words: str
    node: ast.AST
    when: ProgramPoint
    is_own: bool
    uses: tuple[Sight, ...] = ()
    gives: Sight | None = None
    stamp: float | None = None

    @property
    def sights(self) -> tuple[Sight, ...]:
        return self.uses if self.gives is None else (*self.uses, self.gives)


def parts(node: ast.AST) -> tuple[ast.expr | None, tuple[ast.expr, ...]]:
    """The expression that a step evaluates, and those that it takes its tensors from: each as large as it can be. Of a
    compound statement, which a step names as a whole, none.
    """
    match node:
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value) | ast.Expr(value=value):
            return parts(value)
        case ast.AugAssign(target=target, value=value):
            return None, (target, value)
        case ast.Return(value=ast.expr() as value):
            return value, parts(value)[1]
        case ast.expr():
            return node, tuple(_operands(node))
    return None, ()


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.keyword):
            child = child.value
        if isinstance(child, ast.Attribute) and isinstance(node, ast.Call) and child is node.func:
            yield child.value
        elif isinstance(child, ast.expr) and not isinstance(child, ast.Lambda | ast.Constant):
            yield child


def named(finding: Finding) -> Iterator[ast.expr]:
    """The expressions whose tensors the picture of a story asks for."""
    for node in (finding.node, finding.point.node, *finding.point.calls[-1:], *(link.node for link in finding.links)):
        value, operands = parts(node)
        yield from (each for each in (value, *operands) if each is not None)


def inside(tree: ast.Module, finding: Finding) -> list[ast.expr]:
    """What the block computes whose head the finding is about: ``y = net(x)`` under ``with no_grad() and other:``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.With | ast.AsyncWith) and any(item.context_expr is finding.node for item in node.items):
            values = (getattr(statement, "value", None) for statement in node.body)
            return [value for value in values if isinstance(value, ast.expr)]
    return []


def of_story(finding: Finding, record: Recording, block: Sequence[ast.expr] = ()) -> Subject | None:
    """None where there is one step, and no tensor that it is about. Where no step is about tensors, what leads there is
    a step too, and what the ``block`` computes.
    """
    steps, behind = _steps(finding), list[Step]()
    for step in steps:
        _see(step, record)
    if not any(step.sights for step in steps):
        behind = _behind(finding, block, record)
        steps = [*_leading(finding, record), *steps]
    steps = [*_in_time(steps), *behind]
    subject = Subject(record.paths[behind[-1].sights[-1].stamp] if behind else _state(steps, record))
    for index, (step, stamp) in enumerate(zip(steps, _stamps(steps))):
        key = ("step of the story", index)
        point = ProgramPoint(step.node, step.when.iterations, step.when.calls)
        subject.drafts[key] = draft = Draft("moment", *_told(step), point, stamp, step.is_own)
        draft.is_told = bool(step.words)
        _about(subject, key, step.uses, "uses", step.is_own)
        _about(subject, key, (step.gives,) if step.gives is not None else (), "gives", step.is_own)
        if index and (step.stamp is not None or not step.is_own):
            subject.arrow(("step of the story", index - 1), key, "then", False)
    return subject if len(steps) > 1 or subject.roots or subject.tensors else None


def _steps(finding: Finding) -> list[Step]:
    """The steps as the finding tells them; its own place is one of them, and where the program is when it happens."""
    found = [
        Step(link.short or link.text, link.node, link.when or ProgramPoint(link.node), link.node is finding.node)
        for link in finding.links
    ]
    if finding.at is not None and all(step.node is not finding.point.node for step in found):
        found.append(Step("", finding.point.node, finding.point, finding.point.node is finding.at))
    if not any(step.is_own and step.when.iterations == finding.point.iterations for step in found):
        is_raiser = finding.raises and finding.at is None and finding.raiser is None
        found.append(Step(finding.short or ("raises here" if is_raiser else ""), finding.node, finding.point, True))
    return found


def _leading(finding: Finding, record: Recording) -> list[Step]:
    """The call that leads to where a finding happens, if that is about tensors."""
    if not finding.point.calls:
        return []
    call = finding.point.calls[-1]
    step = Step("", call, ProgramPoint(call, finding.point.iterations, finding.point.calls[:-1]), False)
    _see(step, record)
    return [step] if step.sights else []


def _behind(finding: Finding, block: Sequence[ast.expr], record: Recording) -> list[Step]:
    """What a block computes, as far as that is tensors."""
    now = finding.point
    steps = [Step("", each, ProgramPoint(each, now.iterations, now.calls), False) for each in block]
    for step in steps:
        _see(step, record)
    return [step for step in steps if step.sights][: DRAWN.tensors]


def _stamps(steps: Sequence[Step]) -> list[float]:
    """When each step was, in the order of the steps: those that nothing times are just before the next one."""
    found: list[float] = []
    following = None
    for step in reversed(steps):
        following = step.stamp if step.stamp is not None else following - SOON if following is not None else None
        found.append(following if following is not None else fresh_id())
    found.reverse()
    for index in range(1, len(found)):
        found[index] = max(found[index], found[index - 1] + SOON / 8)
    return found


def _see(step: Step, record: Recording) -> None:
    """Fill in the tensors of a step, as they were when the program was there."""
    value, operands = parts(step.node)
    used = (_sight(record.seen(each), step.when) for each in operands)
    step.uses = tuple(sight for sight in used if sight is not None)
    given = _sight(record.seen(value), step.when) if value is not None else None
    if not operands:
        step.uses = (given,) if given is not None else ()
    elif given is not None and all(given.tensors != sight.tensors for sight in step.uses):
        step.gives = given
    step.stamp = _ended(step, value, record)


def _ended(step: Step, value: ast.expr | None, record: Recording) -> float | None:
    """When a step was: a pass, else an expression, else after the last of its tensors was made."""
    for walk in record.walks:
        if walk.event.point == step.when:
            return walk.stamp
    seen = _same(record.seen(value), step.when) if value is not None else None
    known = [tensor.id for sight in step.sights for tensor in sight.tensors]
    return seen.stamp if seen is not None else max(known) + SOON if known else None


def _sight(seen: Sequence[Sight], when: ProgramPoint) -> Sight | None:
    """The same of those with tensors."""
    return _same([sight for sight in seen if sight.tensors], when)


def _same(seen: Sequence[Sight], when: ProgramPoint) -> Sight | None:
    """What was seen in the iterations and calls of a step; a step that is known by its syntax alone was in any."""
    same = [each for each in seen if (each.point.iterations, each.point.calls) == (when.iterations, when.calls)]
    return next(iter(same or (() if when.iterations or when.calls else seen)), None)


def _in_time(steps: list[Step]) -> list[Step]:
    """The steps of a story stand in their order, but the place of the finding may be any of them: it goes to where it
    was.
    """
    own = next((step for step in steps if step.is_own and step is steps[-1]), None)
    if own is None or own.stamp is None or own.gives is None:
        return steps
    others = steps[:-1]
    later = [index for index, step in enumerate(others) if step.stamp is not None and step.stamp > own.stamp]
    index = later[0] if later else len(others)
    return [*others[:index], own, *others[index:]]


def _state(steps: Sequence[Step], record: Recording) -> AutogradState:
    """The path of the finding; where its event was not heard, that of the last tensor."""
    if record.moment is not None:
        return record.moment
    seen = [sight for step in steps for sight in step.sights]
    return record.paths[seen[-1].stamp] if seen else AutogradState()


def _about(subject: Subject, key: Hashable, sights: Sequence[Sight], how: Relation, is_marked: bool) -> None:
    """Arrows from a step to its tensors; those of other paths are not known to this one."""
    tensors: dict[int, Tensor] = {each.id: each for sight in sights for each in sight.tensors}
    for tensor in [each for each in tensors.values() if each.id in subject.state.tensors][: DRAWN.tensors]:
        now = resolve_view(subject.state, tensor.id)
        became_leaf = edge_of(tensor) is None and isinstance(edge_of(now), Leaf)  # then one box stands for both
        subject.arrow(key, subject.shown(now if became_leaf else tensor), how, is_marked)


def _told(step: Step) -> tuple[str, list[str]]:
    """The title of a step and its details."""
    said, spelled = step.words or (HERE if step.is_own else ""), _words(step.node)
    return (said, [spelled]) if said else (spelled, [])


def _words(node: ast.AST) -> str:
    """What stands in the line of a step."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return f"`def {name}`"
        case ast.ClassDef(name=name):
            return f"`class {name}`"
    return code(node)
