"""Runs one program both ways, and says how the two differ.

Where a program asks for a number that nobody knows before it runs (``loss.item() > 0.5``), PyTorch runs it once for
each answer, and all that may happen is compared with all that tapelint says may happen.
"""

from __future__ import annotations

import ast
import random
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType

import torch

from tapelint import analysis
from tapelint.autograd import Facts
from tapelint.autograd.events.graph_walks import Event
from tapelint.rules import all_rules
from tapelint.severity import Severity
from tapelint.source import parse

NAME = "<fuzzed>"
ERRORS = (
    ("second time", "Trying to backward through the graph a second time"),
    ("modified", "has been modified by an inplace operation"),
    ("leaf", "leaf Variable that requires grad is being used in an in-place operation"),
    ("view", "is a view and is being modified inplace"),
    ("view", "its base or another view of its base has been modified inplace"),
    ("view", "A view was created in"),
    ("no graph", "does not require grad and does not have a grad_fn"),
    ("non-scalar", "grad can be implicitly created only for scalar outputs"),
    ("unused input", "appears to not have been used in the graph"),
    ("unused input", "One of the differentiated Tensors does not require grad"),
    ("flag", "you can only change requires_grad flags of leaf variables"),
    ("inference", "Inference tensors cannot be saved for backward"),
    ("inference", "Inplace update to inference tensor outside InferenceMode"),
    ("copied out", "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol"),
    ("copied out", "Can't call numpy() on Tensor that requires grad"),
    ("gradients", "returned an incorrect number of gradients"),
)
"""What PyTorch says, and what we call it: all that some rule reports as an error that PyTorch raises."""
HOLES = ("faults", "dropped", "out_of_fuel", "unknown_calls", "stopped")
RUNS = 24
"""How many ways through a program are tried."""
CHOOSE = "__choose__"


@dataclass(frozen=True, slots=True, order=True)
class Outcome:
    """How a way through a program ends: ``kind`` is ``other`` for an error that is none of ours."""

    kind: str
    row: int = 0

    def __str__(self) -> str:
        return f"{self.kind} at line {self.row}"


@dataclass(frozen=True, slots=True)
class Truth:
    """The errors PyTorch raises on the ways through a program; ``whole`` where all ways were tried."""

    errors: frozenset[Outcome]
    whole: bool = True
    message: str = ""

    @property
    def usable(self) -> bool:
        return not any(error.kind == "other" for error in self.errors)


@dataclass(frozen=True, slots=True)
class Verdict:
    """``sort`` is how the two differ, or ``agree``; ``unsure`` is why tapelint may not know everything."""

    sort: str
    real: frozenset[Outcome]
    said: frozenset[Outcome] = frozenset()
    unsure: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """What must stay the same while a disagreement is shrunk."""
        return self.sort, *(frozenset(o.kind for o in side) for side in (self.real, self.said)), bool(self.unsure)

    @property
    def same_kind(self) -> bool:
        return {o.kind for o in self.real} == {o.kind for o in self.said}

    @property
    def same_line(self) -> bool:
        return {o.row for o in self.real} == {o.row for o in self.said}


def judge(text: str) -> Verdict:
    truth = run(text)
    if not truth.usable:
        return Verdict("other error", truth.errors)
    return compare(truth, *predict(text))


def compare(truth: Truth, said: frozenset[Outcome], unsure: str) -> Verdict:
    real = truth.errors
    if real == said:
        sort = "agree"
    elif not truth.whole:
        sort = "unknown"
    elif not said:
        sort = "unknown" if unsure else "silent"
    else:
        sort = "otherwise" if real else "false alarm"
    return Verdict(sort, real, said, unsure)


# PyTorch


def run(text: str) -> Truth:
    """All that may happen under PyTorch."""
    try:
        code = compile(ast.fix_missing_locations(Asking().visit(ast.parse(text))), NAME, "exec")
    except (SyntaxError, ValueError, RecursionError):
        return Truth(frozenset({Outcome("other")}))
    errors, message = set(), ""
    script: list[bool] | None = []
    for _ in range(RUNS):
        answers = Answers(script or [])
        outcome, words = once(code, answers)
        if outcome is not None:
            errors.add(outcome)
            message = words
        script = answers.next()
        if script is None:
            break
    return Truth(frozenset(errors), script is None, message)


class Asking(ast.NodeTransformer):
    """Tests of what nobody knows ask for an answer instead, whether they compare it or not."""

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        return asked(node, node.left)

    def visit_If(self, node: ast.If | ast.While | ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        node.test = self.tested(node.test)
        return node

    visit_While = visit_IfExp = visit_If

    def tested(self, test: ast.expr) -> ast.expr:
        """A test with the numbers in it that stand for truth themselves replaced."""
        if isinstance(test, ast.BoolOp):
            test.values = [self.tested(value) for value in test.values]
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test.operand = self.tested(test.operand)
        elif isinstance(test, ast.Call) and not (isinstance(test.func, ast.Name) and test.func.id == CHOOSE):
            return asked(test, test)
        return test


def asked(node: ast.expr, value: ast.expr) -> ast.expr:
    text = ast.unparse(node)
    if ".item()" not in text and "random.random()" not in text:
        return node
    return ast.copy_location(ast.Call(ast.Name(CHOOSE, ast.Load()), [ast.Constant(text), value], []), node)


class Answers:
    """Follows a script as long as it goes, then always answers no. The same question gets the same answer."""

    def __init__(self, script: list[bool]) -> None:
        self.script = script
        self.given: list[bool] = []
        self.known: dict[tuple[str, float], bool] = {}

    def __call__(self, question: str, value: float) -> bool:
        key = (question, value)
        if key not in self.known:
            self.known[key] = len(self.given) < len(self.script) and self.script[len(self.given)]
            self.given.append(self.known[key])
        return self.known[key]

    def next(self) -> list[bool] | None:
        """The script of a way that was not tried yet."""
        given = list(self.given)
        while given and given[-1]:
            given.pop()
        return [*given[:-1], True] if given else None


def kind_of(*texts: str) -> str:
    """What we call the error whose words are in the first of ``texts`` that has any."""
    return next((kind for text in texts for kind, part in ERRORS if part in text), "other")


def once(code: CodeType, answers: Answers) -> tuple[Outcome | None, str]:
    torch.manual_seed(0)
    random.seed(0)
    torch.set_grad_enabled(True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(code, {"__name__": "__main__", CHOOSE: answers})
        except Exception as error:
            words = str(error)
            return Outcome(kind_of(words), max(rows(error), default=(0, 0))[1]), words.partition("\n")[0][:200]
    return None, ""


def rows(error: Exception) -> Iterator[tuple[int, int]]:
    """The program's own frames that lead to the error, up to the backward pass: hooks and the backward of a
    ``Function`` are run by it.
    """
    for depth, frame in enumerate(traceback.extract_tb(error.__traceback__)):
        if frame.name == "_engine_run_backward":
            return
        if frame.filename == NAME:
            yield depth, frame.lineno or 0


# tapelint


def predict(text: str) -> tuple[frozenset[Outcome], str]:
    """Under tapelint: all errors that PyTorch would raise, and why it may not know everything.

    A diagnostic may stand for several errors, so the rules are asked about every event.
    """
    inside = {
        row
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
        for row in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    said, doubts = set(), set()
    facts = Facts()

    def observe(event: Event) -> None:
        for rule in all_rules():
            if rule.check is None or not rule.raises or type(event) not in rule.events:
                continue
            finding = rule.check(event, facts)
            row = getattr(event.point.node, "lineno", 0)
            if finding is None or row in inside and not any(isinstance(c, ast.Call) for c in event.point.calls[:1]):
                continue  # a function that was not called is driven on its own; PyTorch did not run it
            if finding.severity is Severity.ERROR:
                said.add(Outcome(kind_of(finding.message, *rule.raises), row))
            elif finding.severity is Severity.WARNING:
                doubts.add(f"{rule.code} as a warning at line {row}")

    facts.events.subscribe(observe)
    holes = analysis.run(parse(text, NAME), facts).unit.stats
    doubts |= {f"{n} {name}" for name in HOLES if (n := getattr(holes, name))}
    return frozenset(said), ", ".join(sorted(doubts))
