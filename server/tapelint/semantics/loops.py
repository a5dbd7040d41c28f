"""Loops: a few iterations stand for all of them.

The body runs for iteration 1, for iteration 2 with what iteration 1 left behind, and once more with an index that is
not known, unless that would only repeat iteration 2 (``convergence.py``). That finds what is carried across iterations,
and what needs two carries. A test such as ``i % 4 == 0`` asks for more. Every path knows its iteration; findings tell
it. A loop inside another one is not run again where that would only repeat its last run.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from functools import partial

from ..autograd import Iteration
from ..domain.completion import Break, Continue, IteratorExhausted, Raise
from ..domain.state import State
from ..domain.values import FALSE, NONE, Generator, Range, Sequence, Tuple, Value, Zip
from ..engine.evaluation import Items
from ..engine.lifecycle import LoopLeft
from ..engine.limits import Limits
from ..engine.loops import conditional_fill
from ..engine.loops.convergence import IterationProbe, alike, uncounted
from ..engine.loops.lengths import as_by_default, assume_as_many, suppose_more
from ..engine.loops.thresholds import LoopExtension
from ..engine.machine import STATEMENTS, Machine
from ..engine.observer import EndReason, LoopEnded, Skipped, SkipReason
from ..engine.paths.conditions import decide
from ..engine.paths.truth import tested_truth, truth
from ..engine.resume_point import LoopEntry
from ..engine.syntax.liveness import bound_in
from ..frozen import frozen
from ..source import cached_on_node, walk, written
from .assign import assign
from .functions import run_generator
from .iteration import come_due, freezes, items_due, most_items, shown, started
from .refused.refusals import refuse_iteration


def unroll_bound(loop: ast.For | ast.AsyncFor | ast.While, limits: Limits, most: int) -> int:
    """How many iterations tell everything: more than usual, which is ``most``, where the body counts (``i % k``)."""
    counted = [iterations for _, number, iterations in tests_of_index(loop) if number < limits.max_unroll]
    return min(max([most, *counted]), limits.max_unroll)


@cached_on_node
def tests_of_index(loop: ast.For | ast.AsyncFor | ast.While) -> tuple[tuple[ast.expr, int, int], ...]:
    """Where the body compares its index with a number or divides it by one, the number, twice a divisor, and how many
    iterations show what happens there.
    """
    found: list[tuple[ast.expr, int, int]] = []
    names = {n.id for n in walk(loop.target) if isinstance(n, ast.Name)} if not isinstance(loop, ast.While) else None
    for item in walk(loop):
        if isinstance(item, ast.BinOp) and isinstance(item.op, ast.Mod) and _counts(item.left, names):
            twice = 2 * _number(item.right)
            found.append((item, twice, twice))
        elif isinstance(item, ast.Compare) and _counts(item.left, names):
            number = _number(item.comparators[0])
            found.append((item, number, number + 1))
    return tuple(found)


@cached_on_node
def _only_test(loop: ast.For | ast.AsyncFor) -> tuple[int, bool]:
    """The number that the body tests its index for, and whether it is one to begin at, none to come by; 0 where there
    is not one such test: of several it is not known which hold between two iterations in which the same ones do.
    """
    tests = tests_of_index(loop)
    inside = {part for test, _, _ in tests if isinstance(test, ast.Compare) for part in walk(test.left)}
    if len({written(test) for test, _, _ in tests if test not in inside}) != 1:
        return 0, False
    divided = [number for test, number, _ in tests if isinstance(test, ast.BinOp)]
    return (max(divided), False) if divided else (tests[0][1], True)


def _meets_once(loop: ast.For | ast.AsyncFor, limits: Limits) -> bool:
    """Whether the index meets what the body tests it for in one only of the iterations that are followed."""
    number, begins = _only_test(loop)
    return number >= (1 if begins else limits.max_unroll)


def _counts(node: ast.expr, names: set[str] | None) -> bool:
    return any(isinstance(n, ast.Name) and (names is None or n.id in names) for n in walk(node))


def _number(node: ast.expr) -> int:
    """The positive number that stands there; 0 where there is none."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def for_loop(machine: Machine, node: ast.For | ast.AsyncFor, state: State) -> list[State]:
    depth, iterations = len(state.iterations), unroll_bound(node, machine.limits, machine.iterations_kept())
    stepping, machine.context.suspend_at = node is machine.context.suspend_at, None

    def begin(s: State) -> _Turns | tuple[Items, Value]:
        source = machine.eval(node.iter, s)
        refuse_iteration(s, source)
        iterable = started(machine, s, source, node)
        if (turns := _turns(machine, s, iterable, node, iterations)) is not None:
            return turns
        return items_due(machine, s, iterable, node, iterations), iterable

    results: list[State] = []
    paths = machine.run_values(state, begin)
    for path, found in paths:
        if found is None:
            results.append(path)
        elif isinstance(found, _Turns):
            results += _over_generator(machine, node, path, found, depth)
        else:
            due, iterable = found
            count = most_items(path, iterable)
            items = shown(machine, path, due.values, max(iterations, _most(machine, node, due)))
            if not due.exact and _meets_once(node, machine.limits):
                items += items[-1:]  # what is so in a late iteration, and only there, is so again in a later one
            if items and not due.exact and _only_raises(node.body):
                results += _leave(machine, node, [path.fork()], [], depth, len(path.path_condition))
            if not due.exact:
                assume_as_many(path, iterable, len(items))
            run = machine.new_run()
            if items and not due.exact:
                machine.unit.loop_extensions[run] = LoopExtension()
            supposed = as_by_default(iterable, len(items))
            lead = LoopEntry(run, depth, items, len(path.path_condition), count, supposed)
            results += _laps(machine, node, [path], lead, stepping=stepping and len(paths) == 1 and not results)
    return results


def _only_raises(body: list[ast.stmt]) -> bool:
    """Whether a block ends in ``raise`` whatever it tests, for all that its text shows: there should be no item."""
    last = body[-1]
    sides = (last.body, last.orelse) if isinstance(last, ast.If) and last.orelse else ()
    return isinstance(last, ast.Raise) or bool(sides) and all(map(_only_raises, sides))


def _most(machine: Machine, loop: ast.For | ast.AsyncFor, due: Items) -> int:
    """For how many items a loop is run at most: for more where each of them is known, and there is fuel enough. One
    that freezes parameters leaves none out: what is trained would be wrong.
    """
    if not due.exact or machine.iterations_kept() < machine.limits.unroll:
        return machine.limits.max_unroll
    is_long = len(due.values) > machine.limits.known_items
    return machine.limits.frozen_items if is_long and freezes(machine, loop) else machine.limits.known_items


@dataclass(slots=True)
class Ends:
    """The paths that have left a loop: those for which there was no other item, and those that broke out of it."""

    exhausted: list[State] = field(default_factory=list)
    left: list[State] = field(default_factory=list)


def _bound(
    machine: Machine,
    node: ast.For | ast.AsyncFor,
    going: list[State],
    lead: LoopEntry,
    number: int,
    item: Value,
    ends: Ends,
) -> list[State]:
    """The paths that begin an iteration with its item bound; those that raise at that are added to ``ends``."""
    starting: list[State] = []
    if lead.by_default is not None and number == lead.by_default[0]:
        going, ended = suppose_more(going, lead.by_default[1])
        ends.exhausted += ended

    def bind(s: State) -> None:
        assign(machine, s, node.target, come_due(machine, s, item, node, everywhere=True), node, None)

    for path in going:
        machine.begin_iteration(path, node, lead.run, number + 1, lead.depth)
        for bound in machine.run_paths(path, bind):
            if bound.completion is None:
                starting.append(bound)
            elif isinstance(bound.completion, Raise) and isinstance(bound.completion.error, IteratorExhausted):
                bound.completion = None
                ends.exhausted.append(bound)
            else:
                ends.left.append(bound)
    return starting


class Begun(Exception):
    """The first iteration of the loop that a stretch steps into is ready to run, on one ``path``; it has begun when
    the machine had taken so many ``steps``.
    """

    def __init__(self, lead: LoopEntry, path: State, steps: int) -> None:
        super().__init__(lead, path, steps)
        self.lead, self.path, self.steps = lead, path, steps


def go_on(
    machine: Machine, node: ast.For | ast.AsyncFor, lead: LoopEntry, ended: list[State], count: int
) -> list[State]:
    """Run the rest of a loop whose first iteration has ``ended``, after so many steps."""
    return _laps(machine, node, ended, lead, ended, count)


def _laps(
    machine: Machine,
    node: ast.For | ast.AsyncFor,
    going: list[State],
    lead: LoopEntry,
    ended: list[State] | None = None,
    count: int = 0,
    stepping: bool = False,
) -> list[State]:
    """Run the body for each item of the lead, but for those that would only repeat the one before. What leaves the
    loop: the last state, and every break. Where there are more items, the last stands for as many as it takes to fill
    what the program waits for (``if len(memory) >= 8``), and one that finds it so.
    """
    run, depth, items, chosen = lead.run, lead.depth, lead.items, lead.chosen
    number, ends, last = 0, Ends(), IterationProbe(machine)
    left = ends.left
    while going and number < len(items):
        if ended is None and number < 2 and _ran(machine, node, going, items[number:], number):
            for path in going if number else ():
                uncounted(path, node.target)
            break
        last, out = last.next(going, alike(items, number) or depth), len(left)
        last.begun -= count
        if ended is None:
            starting = _bound(machine, node, going, lead, number, items[number], ends)
            if stepping and number == 0:
                _suspend(lead, starting, ends, last.begun)
            ended = machine.block(node.body, starting) if starting else []
        going, ended, count = _body(ended, left), None, 0
        going = _met(machine, node, going)
        number += 1
        items = _extended(machine, run, items, number)
        if (repeated := last.ended(going, items[number - 1], partial(_heads, machine, node))) is not None:
            machine.unit.iteration_facts.stable[node] = replace(repeated, is_left=len(left) > out)
            number += _skipped(machine, node, going, items, number)
    _end(machine, node, number, going, machine.unit.loop_extensions.pop(run, None) is not None)
    _cut(node, lead, going + left)
    return _leave(machine, node, [*going, *ends.exhausted], left, depth, chosen, lead.count)


def _cut(node: ast.For | ast.AsyncFor, lead: LoopEntry, paths: list[State]) -> None:
    """What a loop has filled or counted of which not all iterations were executed is not known on the ``paths``."""
    for path in paths:
        if lead.is_cut:
            conditional_fill.cut(path, node)
        if lead.is_cut or lead.count is None:
            for name in bound_in(node):
                uncounted(path, ast.Name(name))


def _extended(machine: Machine, run: int, items: list[Value], number: int) -> list[Value]:
    """The items of a run, of which ``number`` are done: more of the last one, where the program waits for something."""
    if number < len(items) or run not in machine.unit.loop_extensions:
        return items
    return [*items, *items[-1:] * machine.unit.loop_extensions[run].more(number, machine.limits)]


def _suspend(lead: LoopEntry, starting: list[State], ends: Ends, begun: int) -> None:
    """Raise Begun where one path begins the first iteration and no other has left: a segment goes on from there."""
    if len(starting) == 1 and not ends.left and not ends.exhausted:
        raise Begun(lead, starting[0], begun)


def _skipped(
    machine: Machine, node: ast.For | ast.AsyncFor, going: list[State], items: list[Value], number: int
) -> int:
    """How many of the items after the first ``number`` are like the last of these: their iterations would only repeat
    the one that has ended, and are not run. Where none is left, the number of the last iteration is not known.
    """
    skipped = alike(items, number - 1)
    if skipped:
        _skip(machine, node, number, SkipReason.STABLE, skipped)
    if skipped and number + skipped == len(items):
        for path in going:
            uncounted(path, node.target)
    return skipped


def _end(
    machine: Machine, node: ast.For | ast.AsyncFor | ast.While, done: int, going: list[State], is_bounded: bool
) -> None:
    """An observer learns why no other iteration is executed on the paths that are ``going`` on after the loop."""
    if machine.observer is not None:
        reason = EndReason.LEFT if not going else EndReason.BOUND if is_bounded else EndReason.EXHAUSTED
        machine.observer.decide(LoopEnded(node, done, reason))


def _skip(
    machine: Machine, node: ast.For | ast.AsyncFor | ast.While, done: int, reason: SkipReason, count: int | None = None
) -> None:
    """An observer learns why iterations after the first ``done`` are not executed."""
    if machine.observer is not None:
        machine.observer.decide(Skipped(node, done, reason, count))


def _ran(machine: Machine, node: ast.For | ast.AsyncFor, going: list[State], items: list[Value], number: int) -> bool:
    """Whether the loop was run before, and what is left of this run after ``number`` iterations would repeat that."""
    known = machine.unit.iteration_facts.stable.get(node)
    if known is None or known.is_left and not number:
        return False  # where an iteration may leave the loop, one is run: a path may go on only so
    live, binds = machine.live_at(node, going), bound_in(node)
    if number == 0 and (live is None or not live.after & binds <= live.head):
        return False  # what follows reads what an iteration binds
    repeats = known.covers(machine, going, items, None if live is None else live.head, None if number else binds)
    if repeats:
        _skip(machine, node, number, SkipReason.RUN_BEFORE)
    return repeats


def _body(ended: list[State], left: list[State]) -> list[State]:
    """An iteration has ended: the paths that go on to the next; those that leave the loop are added to ``left``."""
    going: list[State] = []
    for path in ended:
        if path.completion is None or isinstance(path.completion, Continue):
            path.completion = None
            going.append(path)
        else:
            left.append(path)
    return going


def _leave(
    machine: Machine,
    node: ast.For | ast.AsyncFor | ast.While,
    going: list[State],
    left: list[State],
    depth: int,
    chosen: int,
    count: int | None = None,
) -> list[State]:
    """The loop, of ``count`` iterations, ends; before it ``chosen`` conditions were decided that are not known."""
    for path in going + left:
        if len(path.path_condition) > chosen:
            conditional_fill.leave(path, node)
        if len(path.iterations) > depth:
            machine.lifecycle.loop_left.publish(machine, LoopLeft(path, path.iterations[depth].run, count))
        path.iterations = path.iterations[:depth]
    if node.orelse:
        going = machine.block(node.orelse, going) if going else []
    for path in left:
        if isinstance(path.completion, Break):
            path.completion = None
    return _met(machine, node, going + left, after=True)


def _met(
    machine: Machine, node: ast.For | ast.AsyncFor | ast.While, states: list[State], after: bool = False
) -> list[State]:
    """Merge paths at the head of a loop, or ``after`` it: names that are dead there do not keep them apart."""
    if len(states) < 2:
        return states
    known = machine.live_at(node, states)
    return machine.join_and_cap(states, None if known is None else known.after if after else known.head)


def _heads(machine: Machine, node: ast.For | ast.AsyncFor | ast.While, states: list[State]) -> frozenset[str] | None:
    known = machine.live_at(node, states)
    return None if known is None else known.head


@frozen
class _Turns:
    """A loop over a generator of the program."""

    generator: Generator
    # What each iteration is given, up to the most of them; the generator stands for what it yields.
    rows: list[tuple[Value, ...]]
    # Whether it is given the yielded value alone.
    is_alone: bool
    # Whether the rows are all that there are.
    exact: bool


def _turns(machine: Machine, state: State, iterable: Value, node: ast.AST, iterations: int) -> _Turns | None:
    """How a loop runs over a generator of the program, or over one that is counted (``enumerate(batches(16))``)."""
    parts = iterable.parts if isinstance(iterable, Zip) else (iterable,)
    others = [part for part in parts if not isinstance(part, Range)]
    if len(others) != 1 or not isinstance(generator := others[0], Generator) or generator.function is None:
        return None
    yielded = Items([generator] * iterations, False)
    columns = [yielded if part is generator else items_due(machine, state, part, node, iterations) for part in parts]
    rows = list(zip(*(each.values for each in columns)))
    return _Turns(generator, rows, iterable is generator, any(each.exact for each in columns)) if rows else None


def _over_generator(
    machine: Machine, node: ast.For | ast.AsyncFor, state: State, turns: _Turns, depth: int
) -> list[State]:
    """The body runs at every ``yield``: generator and loop take turns, as in life. Where the program waits in the body
    for something, the loops that yield run as much longer.
    """
    run, chosen, extensions = machine.new_run(), len(state.path_condition), machine.unit.loop_extensions
    waiting = extensions[run] = LoopExtension()
    base = state.iterations
    count = state.new(Sequence("list", []))  # one item per lap, on the heap, so that every path has its own
    state.iterations = (*base, Iteration(node, run, 1))

    def body(path: State, value: Value) -> list[State]:
        path.edit(count, Sequence).items.append(NONE)
        number = len(path.get(count, Sequence).items)
        inside = path.iterations[depth + 1 :]  # the generator's own loops
        path.iterations = (*base, Iteration(node, run, number))
        row = [value if item is turns.generator else item for item in turns.rows[number - 1]]
        item = value if turns.is_alone else Tuple(tuple(row))
        bound = machine.run_paths(path, lambda s: assign(machine, s, node.target, item, node, None))
        states = [s for b in bound for s in machine.block(node.body, [b])]
        if number >= len(turns.rows) and not turns.exact:
            turns.rows.extend(turns.rows[-1:] * waiting.more(number, machine.limits))
            for other in (extensions[lap.run] for lap in inside if lap.run in extensions):
                other.iterations = max(other.iterations, waiting.iterations)
        for out in states:
            # What the generator does next belongs to the next iteration.
            out.iterations = (*base, Iteration(node, run, number + 1), *inside)
            if (out.completion is None or isinstance(out.completion, Continue)) and number >= len(turns.rows):
                out.completion = Break()
        return states

    states = run_generator(machine, state, turns.generator, body)
    extensions.pop(run)
    going = [s for s in states if s.completion is None]
    left = [s for s in states if s.completion is not None]
    return _leave(machine, node, going, left, depth, chosen)


def _tested(machine: Machine, node: ast.While, state: State) -> Value:
    """The value of a loop's test; False too where that follows from what the path supposes (``if done: ...``)."""
    value = machine.eval(node.test, state)
    if tested_truth(machine, state, value) is None and decide(machine, node.test, state, value)[0] is False:
        return FALSE
    return value


def while_loop(machine: Machine, node: ast.While, state: State) -> list[State]:
    """``while``: a known test is obeyed (up to a limit); an unknown one holds for three iterations and then fails."""
    depth, chosen = len(state.iterations), len(state.path_condition)
    run = machine.new_run()
    going, left, ended = [state], [], []
    iterations = unroll_bound(node, machine.limits, machine.iterations_kept())
    index, done, is_bounded, last = 0, 0, False, IterationProbe(machine)
    waiting = machine.unit.loop_extensions[run] = LoopExtension()
    while going and index < max(iterations, machine.limits.max_unroll):
        if index >= iterations:
            iterations += waiting.more(index, machine.limits)
        last = last.next(going, index + 1 < iterations)
        starting: list[State] = []
        for path in going:
            machine.begin_iteration(path, node, run, index + 1, depth)
            for tested, value in machine.run_values(path, partial(_tested, machine, node)):
                if value is None:
                    left.append(tested)
                    continue
                known = truth(machine, tested, value)
                endless = isinstance(node.test, ast.Constant)
                if known is False or (index >= iterations and (known is None or endless)):
                    ended.append(tested)
                    is_bounded |= known is not False
                else:
                    starting.append(tested)
        done += len(starting) > 0
        going = _body(machine.block(node.body, starting) if starting else [], left)
        going = _met(machine, node, going)
        index += 1
        if last.ended(going, NONE, partial(_heads, machine, node)) is not None:
            _skip(machine, node, index, SkipReason.STABLE)
            index = iterations
    ended += going
    is_bounded |= len(going) > 0
    machine.unit.loop_extensions.pop(run, None)
    _end(machine, node, done, ended, is_bounded)
    return _leave(machine, node, _met(machine, node, ended), left, depth, chosen)


STATEMENTS.update({ast.For: for_loop, ast.AsyncFor: for_loop, ast.While: while_loop})
