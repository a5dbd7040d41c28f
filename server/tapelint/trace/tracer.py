"""The observer of a trace: turns statements, decisions and events into passages.

Among them what a statement did to the state of autograd: nodes built, versions bumped, graphs freed, gradients set and
cleared. Each effect is reported once, at the innermost statement of the file in which it happened.

A trace as text: what was executed, line by line, in the order of execution.

script
   4 | y = torch.exp(w)
     > built ExpBackward0 #1 <- w; saves result (version 0)
     > y: ExpBackward0 #1, version 0

The last part of a trace: what is reported and what it rests on, and what was found and is not reported.

findings
   6 | y += 1
     > not reported: TL201, it needs more than one choice (`flags["a"]` is true and `flags["b"]` is true)
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field

from ..analysis.locations import Files
from ..analysis.rule_listener import Noted
from ..autograd import BackwardPass, Node, Write
from ..autograd.events.graph_walks import BackwardRan, Event
from ..domain.completion import ProgramRaised, Raise, Return
from ..domain.equivalence import Partly
from ..domain.induction import raw_value
from ..domain.state import State
from ..domain.traversal import entries
from ..domain.values import BoundMethod, Class, Const, Frame, Function, HeapRef, Instance, TensorRef, Unknown, Value
from ..engine.machine import Machine
from ..engine.observer import (
    Decided,
    DecideReason,
    Decision,
    Dropped,
    Forked,
    GivenUp,
    Joined,
    KeptApart,
    LoopEnded,
    Opaque,
    Outcomes,
    Picked,
    Skipped,
)
from ..engine.statistics import Entry, Lost
from ..frozen import frozen
from ..headline import shortened
from ..recording.wording import last_row, named_values, places, value_at
from ..rules import Finding, all_rules
from ..source import Source, cell_at, written
from ..workspace.config import Config
from .graph_text import Describer, is_partly_known

WIDTH = 100
GUTTER = " " * 5


@frozen
class Binding:
    """What is known of a name at a statement; ``is_bound`` where the statement binds it."""

    name: str
    text: str
    is_bound: bool


@dataclass(slots=True)
class Passage:
    """A statement on one path, from where it begins, or goes on after what it has called, to where another begins."""

    # The entry point, and where in it: the function, the iterations, the path and its condition.
    entry: str
    context: str
    # The first and the last row of the statement without the blocks in it.
    first: int
    last: int
    text: str
    # Of the scope and the path: names are not described again while nothing about them has changed.
    scope: tuple[object, ...]
    goes_on: bool = False
    notes: list[str | Binding] = field(default_factory=list)


def render(passages: Iterable[Passage], line: int | None = None) -> Iterator[str]:
    """The lines of a trace; of one ``line`` of the file, if that is given, with every name that it reads."""
    entry = context = ""
    known: dict[tuple[object, ...], str] = {}
    for passage in passages:
        if line is not None and not passage.first <= line <= passage.last:
            continue
        notes = list(_news(passage, known, line is not None))
        if passage.goes_on and not notes:
            continue
        if passage.entry != entry:
            yield from ("", passage.entry) if entry else (passage.entry,)
            entry, context = passage.entry, ""
        if passage.context != context:
            context = passage.context
            yield from _wrapped(f"{GUTTER}-- ", context or "at the top level", f"{GUTTER}   ")
        more = " (goes on)" if passage.goes_on else ""
        yield f"{passage.first:4} | {passage.text}"[: WIDTH - len(more)] + more
        for note in notes:
            yield from _wrapped(f"{GUTTER}> ", note, f"{GUTTER}    ")


def _news(passage: Passage, known: dict[tuple[object, ...], str], is_all: bool) -> Iterator[str]:
    """The notes of a passage, but for names that it reads as they were described before."""
    for note in passage.notes:
        if isinstance(note, str):
            yield note
            continue
        key = *passage.scope, note.name
        if is_all or note.is_bound or known.get(key) != note.text:
            yield f"{note.name}: {note.text}"
        known[key] = note.text


def _wrapped(first: str, text: str, rest: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


MOST = 12
"""How many nodes that one statement built are printed."""


class Effects:
    """The effects that were reported already."""

    def __init__(self, describer: Describer) -> None:
        self._describer = describer
        self._nodes: set[Node] = set()
        self._writes: dict[int, Write] = {}
        self._freed: dict[tuple[Node, int], BackwardPass] = {}
        self._gradients: set[tuple[str, int, int]] = set()

    def lines(self, state: State, grads: dict[int, int]) -> Iterator[str]:
        """What has happened on a path since the last call; ``grads`` are the gradients of leaves before it."""
        built = sorted(self._new_nodes(state), key=lambda node: node.id)
        for node in built:
            self._describer.numbering.number(node)
        for node in built[:MOST]:
            yield f"built {self._describer.built(node)}"
        if len(built) > MOST:
            yield f"built {len(built) - MOST} more nodes, the last is {self._describer.node(built[-1])}"
        yield from self._new_writes(state, state.writes, "")
        yield from self._new_writes(state, state.untracked_writes, ", not counted by its version counter")
        yield from self._new_gradients(state, grads)

    def freed(self, state: State) -> list[Node]:
        """The nodes that were freed on a path since the last call and that had saved something."""
        found = [(node, run) for node, run in state.freed.items() if (node, id(run)) not in self._freed]
        self._freed.update({(node, id(run)): run for node, run in found})
        return [node for node, _ in found if node.saves_anything]

    def _new_nodes(self, state: State) -> list[Node]:
        found: list[Node] = []
        frontier = [tensor.grad_fn for tensor in list(state.tensors.values())]
        while frontier:
            node = frontier.pop()
            if node is not None and node not in self._nodes:
                self._nodes.add(node)
                found.append(node)
                frontier += [each for each in node.inputs if isinstance(each, Node)]
        return found

    def _new_writes(self, state: State, writes: dict[int, Write], remark: str) -> Iterator[str]:
        for counter, last in list(writes.items()):
            new: list[Write] = []
            for write in last.chain():
                if id(write) in self._writes:
                    break
                self._writes[id(write)] = write
                new.append(write)
            if new:
                how = ", ".join(dict.fromkeys(f"{write.op}{'' if write.certain else '?'}" for write in reversed(new)))
                versions = f"version {new[-1].version - 1} -> {last.version}"
                yield f"wrote {self._written(state, counter, last.tensor)} in place ({how}): {versions}{remark}"

    def _written(self, state: State, counter: int, tensor: int) -> str:
        """What the program calls a tensor that was written: it may be the gradient of a leaf."""
        leaf = next((key for key, made in state.grads.items() if state.tensors[made].version_counter == counter), None)
        if leaf is not None:
            return f".grad of {self._describer.name(leaf)}"
        return self._describer.name(tensor if tensor >= 0 else counter)

    def _new_gradients(self, state: State, grads: dict[int, int]) -> Iterator[str]:
        now = state.grads
        changed = {
            "set": [(key, made) for key, made in now.items() if grads.get(key) != made],
            "cleared": [(key, made) for key, made in grads.items() if key not in now],
        }
        for what, pairs in changed.items():
            new = [pair for pair in pairs if (what, *pair) not in self._gradients]
            self._gradients.update((what, *pair) for pair in new)
            if new:
                names = dict.fromkeys(self._describer.name(key) for key, _ in new)
                yield f".grad {what}: {', '.join(names)}"


DESCRIBED = (TensorRef, Unknown)
"""The values of which the trace says what they are where a statement reads them."""
TESTS = (ast.If, ast.While, ast.Assert)
TESTED = (*DESCRIBED, Const)
"""The same for statements that test what they read."""


@dataclass(slots=True)
class Running:
    """A statement that has begun; ``passage`` is the last one about it. One of another file has none."""

    statement: ast.stmt
    passage: Passage | None
    # The gradients of leaves when it began.
    grads: dict[int, int] = field(default_factory=dict)
    # Whether a pass ran in it, which names the nodes that it freed.
    has_walked: bool = False
    # What was published while it ran.
    published: list[str | BackwardRan] = field(default_factory=list)


@frozen
class Condition:
    """How the program writes a condition that was assumed; ``negated``, where its formula is the negation."""

    text: str
    negated: bool


class Tracer:
    """Observes one execution of ``source``; ``passages`` are what it saw, in the order of execution."""

    def __init__(self, machine: Machine, source: Source) -> None:
        self.machine, self.source = machine, source
        self.passages: list[Passage] = []
        self.describer = Describer(lambda: machine.facts)
        self._effects = Effects(self.describer)
        self._running: list[Running] = []
        self._entry = ""
        self._paths: dict[int, int] = {}
        self._count = 0
        self._held: list[State] = []
        self._ended_by: dict[int, ast.stmt] = {}
        self._conditions: dict[Hashable, Condition] = {}
        self._skipping: set[ast.AST] = set()
        self._raised: list[ProgramRaised] = []
        self._kept_apart: set[str] = set()
        machine.observer = self
        machine.facts.events.subscribe(self.hear)

    # Entry points

    def enter(self, entry: Entry) -> None:
        """Execution starts at an entry point, or goes on with it."""
        text = named(entry)
        if text != self._entry:
            self._flush()
            self._entry = text
            self._paths.clear()
            self._kept_apart.clear()
            self._count = 0
            self._ended_by.clear()

    # Statements

    def begin(self, statement: ast.stmt, state: State) -> None:
        """A statement is executed on a path."""
        if not self.source.holds(statement):
            self._running.append(Running(statement, None))
            return
        passage = self._passage(statement, state)
        running = Running(statement, passage, grads=state.grads.copy())
        _, read = places(statement)
        for name, place in read.items():
            value = value_at(state, place)
            if isinstance(value, Unknown) and isinstance(place, ast.Name):
                self.describer.called.setdefault(value.tensor_id, name)
            if value is None:
                continue
            kinds = TESTED if isinstance(statement, TESTS) else DESCRIBED
            if isinstance(value, kinds) or is_partly_known(state, value):
                passage.notes.append(Binding(name, self.describer.value(state, value), False))
        self._running.append(running)

    def end(self, statement: ast.stmt, states: list[State]) -> None:
        """It has ended in ``states``."""
        while self._running and self._running[-1].statement is not statement:
            self._running.pop()
        if not self._running:
            return
        running = self._running.pop()
        for state in states:
            self._ended_by[id(state)] = statement
        if running.passage is None or not states:
            return
        passage = self._resumed(running)
        for state in states:
            notes = list(self._notes(running, state))
            prefix = f"path {self._number(state)}: " if len(states) > 1 else ""
            for note in notes:
                passage.notes.append(f"{prefix}{note}" if isinstance(note, str) else _prefixed(note, prefix))

    def _notes(self, running: Running, state: State) -> Iterator[str | Binding]:
        """What a statement has done on a path."""
        yield from self._effects.lines(state, running.grads)
        yield from self._news(running)
        freed = self._effects.freed(state)
        if freed and not running.has_walked:
            yield f"freed {', '.join(map(self.describer.node, freed))}"
        bound, _ = places(running.statement)
        is_loop = isinstance(running.statement, (ast.For, ast.AsyncFor))
        for name, place in () if is_loop else bound.items():
            value = value_at(state, place)
            if value is not None and not isinstance(value, (Function, BoundMethod)):
                yield Binding(name, self.describer.value(state, value), True)
        match state.completion:
            case Raise(error) if not any(error is known for known in self._raised):
                self._raised.append(error)
                yield f"raises {shortened(f'{error.name}: {error.message}' if error.message else error.name, 160)}"
            case Return(value) if isinstance(running.statement, ast.Return):
                yield f"returns {self.describer.value(state, value)}"

    # Decisions and events

    def hear(self, event: Event) -> None:
        """An event is published."""
        running = next((each for each in reversed(self._running) if each.passage is not None), None)
        if running is None:
            if self.passages:
                self.passages[-1].notes += [note for note in self._published(event) if isinstance(note, str)]
            return
        running.has_walked |= isinstance(event, BackwardRan)
        running.published += self._published(event)

    def _news(self, running: Running) -> Iterator[str]:
        """What was published while a statement ran, after what it built."""
        describer = self.describer
        for event in running.published:
            if isinstance(event, str):
                yield event
                continue
            ran = ", ".join(map(describer.node, event.ran)) or "no node"
            yield f"backward ran {ran}; {'freed' if event.frees else 'not freed for certain'}"
            if event.reached:
                names = ", ".join(dict.fromkeys(map(describer.name, event.reached)))
                yield f"gradients {'accumulate in' if event.accumulates else 'are returned for'} {names}"
        running.published.clear()

    def _published(self, event: Event) -> Iterator[str | BackwardRan]:
        if isinstance(event, BackwardRan):
            yield event
            return
        asked = [(rule.code, rule.check) for rule in all_rules() if rule.check and type(event) in rule.events]
        found = [(code, check(event, self.machine.facts)) for code, check in asked]
        reported = [f"{code} {finding.severity.word}" for code, finding in found if finding is not None]
        assumed = f", assuming that {event.because.words}" if event.because else ""
        if reported or event.raises:
            yield f"published {type(event).__name__}{assumed}: {', '.join(reported) or 'no rule reports it'}"

    def decide(self, decision: Decision) -> None:
        """The machine has decided what is executed next."""
        if isinstance(decision, (Joined, KeptApart)):
            met = decision.states if isinstance(decision, KeptApart) else (decision.state, decision.other)
            if (statement := self._common(met)) is not None:
                self._after(statement, decision)
                return
        running = next((each for each in reversed(self._running) if each.passage is not None), None)
        if isinstance(decision, GivenUp):
            self._flush()
        note = self._decided(decision)
        if running is not None and note is not None:
            self._note(note, running)
        elif note is not None and self.passages:
            self.passages[-1].notes.append(note)

    def _common(self, states: tuple[State, ...]) -> ast.stmt | None:
        """The statement at whose end paths meet, if all have just ended it."""
        ended = [self._ended_by.get(id(state)) for state in states]
        return ended[0] if all(each is ended[0] for each in ended) else None

    def _after(self, statement: ast.stmt, decision: Joined | KeptApart) -> None:
        note = self._decided(decision)
        for passage in reversed(self.passages):
            if passage.first == statement.lineno and note is not None:
                passage.notes.append(note)
                return

    def _decided(self, decision: Decision) -> str | None:
        match decision:
            case Decided() | Forked() | Picked():
                return self._tested(decision)
            case Joined():
                return self._joined(decision)
            case KeptApart(states):
                return self._apart(states)
            case Outcomes(state, first, others):
                self._paths[id(state)] = self._number(first)
                numbers = ", ".join(str(self._number(other)) for other in others)
                return (
                    f"the call ended in {1 + len(others)} states: path {self._number(state)} goes on, the statement is "
                    f"finished afterwards on {'path' if len(others) == 1 else 'paths'} {numbers}"
                )
            case Dropped(count, reason):
                return f"dropped {count} {'path' if count == 1 else 'paths'}: {reason.value}"
            case Skipped() | LoopEnded():
                return self._loop(decision)
            case Opaque(node, function, reason):
                name = written(node.func) if isinstance(node, ast.Call) else self._called(function)
                return f"did not execute `{shortened(name)}()`: {reason.value}"
            case GivenUp(lost):
                return self._given_up(lost)

    def _loop(self, decision: Skipped | LoopEnded) -> str | None:
        """Why no other iteration is executed; None where that was noted when iterations were skipped."""
        match decision:
            case Skipped(loop, done, reason, count):
                self._skipping.add(loop)
                which = "the run" if done == 0 else f"what comes after iteration {done}"
                return f"skipped {which}{f' ({count} more)' if count else ''}: {reason.value}"
            case LoopEnded(loop, done, reason):
                if loop in self._skipping:
                    self._skipping.discard(loop)
                    return None
                return f"ended after {done} {'iteration' if done == 1 else 'iterations'}: {reason.value}"

    def _given_up(self, lost: Lost) -> str:
        if lost.fault is not None:
            return f"given up: internal error, {lost.fault}"
        if not lost.begun:
            return f"no fuel is left for {named(lost.entry)}"
        return f"given up: out of fuel after {self.machine.fuel_used:,} expressions"

    def _called(self, function: Value | None) -> str:
        return "a call" if function is None else str(getattr(function, "name", type(function).__name__))

    def _tested(self, decision: Decided | Forked | Picked) -> str | None:
        """Which way a test goes, and why; None of a test in another file that goes one way."""
        match decision:
            case Forked():
                return self._forked(decision)
            case Picked(node, states, names):
                each = (f"{name} on path {self._number(state)}" for name, state in zip(names, states))
                return f"forked: `{shortened(written(node))}` is {', '.join(each)}"
            case Decided(test, state, truth, reason) if self.source.holds(test):
                why = reason.value
                if reason is DecideReason.SUPPOSED:
                    why = f"the path supposes that {state.supposed.words}, and {why}"
                return f"decided: `{shortened(written(test))}` is {'true' if truth else 'false'}: {why}"
        return None

    def _forked(self, forked: Forked) -> str:
        text = shortened(written(forked.test))
        if forked.formula is not None:
            self._conditions.setdefault(forked.formula, Condition(text, forked.negated))
        one, two = self._number(forked.state), self._number(forked.other)
        what = f"`{text}` may match" if isinstance(forked.test, ast.pattern) else f"`{text}` is unknown"
        return f"forked: {what}, true on path {one}, false on path {two}"

    def _apart(self, states: tuple[State, ...]) -> str | None:
        """In what paths differ that were not joined, as far as names of the running scope show it; None if that was
        noted before.
        """
        held = [dict(named_values(state)) for state in states]
        names = dict.fromkeys(name for each in held for name in each)
        texts = {
            name: {
                self.describer.value(state, value) if (value := each.get(name)) is not None else "unbound"
                for state, each in zip(states, held)
            }
            for name in names
        }
        differing = [name for name, found in texts.items() if len(found) > 1]
        numbers = ", ".join(str(self._number(state)) for state in states)
        note = f"kept paths {numbers} apart: they differ in {', '.join(differing) or 'what no name here shows'}"
        if note in self._kept_apart:
            return None
        self._kept_apart.add(note)
        return note

    def _joined(self, joined: Joined) -> str:
        other = joined.other
        names: dict[str, None] = {}
        for _, key, name in joined.forgotten:
            thing = other.heap.get(key)
            names[text := _name_of(other, thing, name)] = None
            value = entries(thing).get(name)
            if isinstance(value, Unknown):
                self.describer.notes[value.tensor_id] = f"the joined paths differ in `{text}`"
        havocked = f"havocked {', '.join(names)}" if names else "nothing was havocked"
        return f"joined path {self._number(joined.state)} with path {self._number(other)}: {havocked}"

    # Passages

    def _flush(self) -> None:
        """Statements that have begun do not end: execution was given up, or goes on elsewhere."""
        for running in self._running:
            if running.passage is not None:
                for note in list(self._news(running)):
                    self._note(note, running)
        self._running.clear()

    def _note(self, note: str, running: Running) -> None:
        self._resumed(running).notes.append(note)

    def _resumed(self, running: Running) -> Passage:
        """The passage that what a statement has done is added to."""
        assert running.passage is not None
        if self.passages[-1] is not running.passage:
            running.passage = self._continued(running.passage)
        return running.passage

    def _continued(self, passage: Passage) -> Passage:
        again = Passage(
            passage.entry, passage.context, passage.first, passage.last, passage.text, passage.scope, goes_on=True
        )
        self.passages.append(again)
        return again

    def _passage(self, statement: ast.stmt, state: State) -> Passage:
        row = statement.lineno
        text = self.source.lines[row - 1].rstrip() if row <= len(self.source.lines) else ""
        number = self._number(state)
        scope = self._entry, state.frame, number
        passage = Passage(self._entry, self._context(state, number, row), row, last_row(statement), text, scope)
        self.passages.append(passage)
        return passage

    def _context(self, state: State, number: int, row: int) -> str:
        """Where a path is: the function, the iterations of its loops, and under which condition."""
        cell = cell_at(self.source.cells, row)
        parts: list[str] = [] if cell is None else [f"cell {cell.number}"]
        function = state.get(state.frame, Frame).function
        if isinstance(function, Function):
            name = "a lambda" if isinstance(function.node, ast.Lambda) else function.node.name
            parts.append(f"in {name}")
        for iteration in state.iterations:
            line = getattr(iteration.loop, "lineno", None)
            if line is not None and not isinstance(iteration.loop, (ast.FunctionDef, ast.AsyncFunctionDef)):
                parts.append(f"iteration {iteration.number} of line {line}")
            else:
                parts.append(f"call {iteration.number}")
        if len(self._paths) > 1:
            conditions = self._condition(state)
            parts.append(f"path {number}{f' where {conditions}' if conditions else ''}")
        return ", ".join(parts)

    def _condition(self, state: State) -> str:
        """The path condition, as the program writes it."""
        found: dict[str, None] = {}
        for formula, taken in state.path_condition.items():
            known = self._conditions.get(formula)
            if known is not None:
                holds = taken is not known.negated
                found[f"`{known.text}`" if holds else f"not `{known.text}`"] = None
        return " and ".join(found)

    def _number(self, state: State) -> int:
        """The number of a path in its entry point. The state is kept, so that its identity is not used again."""
        number = self._paths.get(id(state))
        if number is None:
            self._count += 1
            number = self._paths[id(state)] = self._count
            self._held.append(state)
        return number


def _prefixed(binding: Binding, prefix: str) -> Binding:
    return Binding(f"{prefix}{binding.name}", binding.text, binding.is_bound)


CALLED = {
    "function": "which nothing calls",
    "latent": "given tensors that require grad",
    "switched": "on an object that is made the other way",
    "turn": "and a round of training after it",
}


def named(entry: Entry) -> str:
    """An entry point, in a line."""
    name = getattr(entry.node, "name", "")
    row = getattr(entry.node, "lineno", "?")
    match entry.kind:
        case "function" | "latent" | "switched" | "turn":
            owner = getattr(entry.owner, "name", "")
            return f"function {f'{owner}.{name}' if owner else name} (line {row}), {CALLED[entry.kind]}"
        case "object":
            return f"an object of {name} (line {row}), for its methods"
        case "cell":
            return f"the cell at line {row}, run again"
        case "module":
            return f"module {entry.path}"
    return "script"


def _name_of(state: State, thing: object, name: object) -> str:
    """What a join forgot, as the program would write it."""
    if name is Partly.EXTENT:
        return "what else there may be"
    match thing:
        case Frame():
            return str(name)
        case Instance(kind=HeapRef(id=key)) if isinstance(kind := state.heap.get(key), Class):
            return f"{kind.name}.{name}"
        case Instance():
            return f"an attribute {name}"
    if name is None or name is Partly.ITEMS:
        return "the items of a list"
    return f"the item {raw_value(name) if isinstance(name, Const) else name!r} of a dict"


FINDINGS = "findings"
"""The line that this part begins with."""


def judged_passages(files: Files, noted: Noted, config: Config, line: int | None) -> list[Passage]:
    """A passage for each place of the traced file at which something was found, in the order of the file; of what is
    found elsewhere, but raises in the ``line`` that is traced, one there.
    """
    judged = [(finding, *_told(files, finding, config)) for finding in noted.findings.values()]
    judged += [(untold.finding, False, f"{untold.finding.code}, {untold.why}") for untold in noted.untold]
    notes: dict[ast.AST, dict[str | Binding, None]] = {}
    for finding, is_told, text in judged:
        place, raiser = files.place_in_main(finding), finding.raiser
        verdict = "reported" if is_told else "not reported"
        if place is not None:
            notes.setdefault(place, {})[f"{verdict}: {text}"] = None
            at = files.main.span(place).row
            if raiser is not None and files.main.holds(raiser) and at != line == files.main.span(raiser).row:
                notes.setdefault(raiser, {})[f"{verdict} in line {at}: {text}"] = None
    passages = [_passage(files.main, place, list(found)) for place, found in notes.items()]
    return sorted(passages, key=lambda passage: passage.first)


def _told(files: Files, finding: Finding, config: Config) -> tuple[bool, str]:
    """Whether a finding that is told is reported to the user, and how or why not."""
    diagnostic = files.diagnostic(finding)
    if diagnostic is None:
        return False, f"{finding.code}, a comment silences it"
    severity = config.grade(finding.code, finding.severity, diagnostic.filename)
    if severity is None:
        return False, f"{finding.code}, the settings leave it out"
    rests_on = "; ".join(ground.text for ground in diagnostic.rests_on)
    return True, f"{finding.code} {severity.word}{f'; it rests on: {rests_on}' if rests_on else ''}"


def _passage(source: Source, place: ast.AST, notes: list[str | Binding]) -> Passage:
    """The row at which something was found, with what is said of it."""
    span = source.span(place)
    text = source.lines[span.row - 1].rstrip() if span.row <= len(source.lines) else ""
    return Passage(FINDINGS, "", span.row, span.row, text, (), notes=notes)
