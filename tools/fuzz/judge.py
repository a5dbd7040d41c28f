"""Runs one program both ways, and says how the two differ."""

from __future__ import annotations

import ast
import traceback
import warnings
from dataclasses import dataclass
from types import CodeType

import torch

from tapelint.analysis import analyse

NAME = "<fuzzed>"
ERRORS = (
    ("second time", "Trying to backward through the graph a second time"),
    ("modified", "has been modified by an inplace operation"),
    ("leaf", "leaf Variable that requires grad is being used in an in-place operation"),
    ("no graph", "does not require grad and does not have a grad_fn"),
)
"""What PyTorch says, and what we call it."""
KINDS = {
    "TL101": "second time",
    "TL102": "second time",
    "TL103": "second time",
    "TL201": "modified",
    "TL202": "modified",
    "TL203": "leaf",
    "TL301": "no graph",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a program ends: ``kind`` is empty where it runs through, ``other`` for an error that is none of ours."""

    kind: str
    row: int = 0
    message: str = ""

    def __str__(self) -> str:
        return f"{self.kind} at line {self.row}" if self.kind else "runs through"


@dataclass(frozen=True, slots=True)
class Verdict:
    """``sort`` is how the two differ, or ``agree``; ``unsure`` are tapelint's warnings and holes."""

    sort: str
    real: Outcome
    said: tuple[Outcome, ...] = ()
    unsure: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """What must stay the same while a disagreement is shrunk."""
        return self.sort, self.real.kind, tuple(sorted({o.kind for o in self.said})), bool(self.unsure)


def judge(text: str) -> Verdict:
    try:
        code = compile(text, NAME, "exec")
    except (SyntaxError, ValueError):
        return Verdict("invalid", Outcome("other"))
    return compare(text, run(code), *predict(text))


def compare(text: str, real: Outcome, said: tuple[Outcome, ...], unsure: str) -> Verdict:
    # Both sides of a condition nobody knows are explored; PyTorch took one.
    guessing = ".item()" in text
    agreed = tuple(o for o in said if (o.kind, o.row) == (real.kind, real.row))
    if real.kind == "other":
        return Verdict("other error", real, said, unsure)
    if not said:
        sort = "agree" if not real.kind else "silent" if not unsure else "unknown"
    elif agreed and (guessing or len(said) == 1):
        sort = "agree"
    elif guessing:
        sort = "unknown"
    elif not real.kind:
        sort = "false alarm"
    else:
        sort = "otherwise"
    return Verdict(sort, real, said, unsure)


def run(code: CodeType) -> Outcome:
    """Under PyTorch."""
    torch.manual_seed(0)
    torch.set_grad_enabled(True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(code, {"__name__": "__main__"})
        except Exception as error:
            rows = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == NAME]
            words = str(error)
            kind = next((kind for kind, part in ERRORS if part in words), "other")
            return Outcome(kind, rows[-1] if rows else 0, words.partition("\n")[0][:200])
    return Outcome("")


def predict(text: str) -> tuple[tuple[Outcome, ...], str]:
    """Under tapelint: its errors where PyTorch would raise, and why it may not know everything."""
    report = analyse(text, NAME)
    inside = {
        row
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
        for row in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    said, doubts = [], []
    for finding in report.findings.values():
        row = getattr(finding.raiser, "lineno", 0)
        if row in inside and not any(isinstance(call, ast.Call) for call in finding.moment.calls[:1]):
            continue  # a function that was not called is driven on its own; PyTorch did not run it
        if finding.severity == "error" and finding.code in KINDS:
            said.append(Outcome(KINDS[finding.code], row, finding.message))
        elif finding.severity == "warning" and finding.code in KINDS:
            doubts.append(f"{finding.code} as a warning at line {row}")
    if report.stats["faults"]:
        doubts.append("fault")
    return tuple(dict.fromkeys(said)), ", ".join(doubts)
