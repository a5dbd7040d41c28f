"""Compares what the analyser reports for a block with what the block claims."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mdreveal import without_reveals
from mdspec import Block, beside, without_claims
from tapelint.ops import layers_by_op

if TYPE_CHECKING:
    from tapelint.analysis import Report
    from tapelint.report import Diagnostic
    from tapelint.source import Notebook
    from tapelint.workspace import Config


def analysed(block: Block, main: Path | None = None) -> Report:
    """The report on ``block``, which may import the files beside it."""
    from tapelint.analysis import analyse

    if block.cells:
        return analyse(notebook(block.program), str(block.file.with_suffix(".ipynb")), turned_on(block))
    if not block.files:
        name = f"{'test_' if block.tests else ''}{block.file.stem}.py"
        return analyse(
            without_reveals(block.program),
            str(block.file.with_name(name)),
            turned_on(block),
            resolve=lambda *_: None,
        )
    if main is None:
        with beside(block) as main:
            return analysed(block, main)
    from tapelint.workspace import Resolver

    return analyse(block.program, str(main), turned_on(block), resolve=Resolver([str(main.parent)]))


def notebook(program: str) -> Notebook:
    """The program cut into cells at its lines ``# %%``."""
    from tapelint.source import joined

    return joined(enumerate(re.split(r"(?m)^(?=# %%)", program), 1))


def turned_on(block: Block) -> Config:
    """Every rule that is on by default, and those that ``block``, or the program it fixes, names."""
    from tapelint.rules import all_rules
    from tapelint.workspace import Config

    named = block.rules | {expected.rule for b in (block, block.fixes) if b for expected in b.expected}
    return Config(extend_select=tuple(rule.code for rule in all_rules() if not rule.default and rule.name in named))


WORDING = {
    "says a name twice": re.compile(r"(`[^`]+`)(?: and|,) \1(?!\w)"),
    "says that a leaf is a leaf": re.compile(r"\ba leaf is a leaf\b"),
    "has a period on both sides of a quotation mark": re.compile(r"\.”\."),
    "calls a layer by the name of its op": re.compile(
        rf"`(?:{'|'.join(op for op in layers_by_op() if op.isidentifier())})`(?= saved| saves| needs)"
    ),
}
"""What no message may look like."""

LONGEST = 100
"""Characters of a headline."""
LONGEST_TITLE = 60
"""Characters of the title of a cure."""

HEADLINE = {
    "a headline is too long": re.compile(rf".{{{LONGEST + 1},}}", re.DOTALL),
    "a headline begins with a capital letter or with code": re.compile(r"^(?![A-Z`])"),
    "a headline ends without a full stop": re.compile(r"\.$"),
    "what PyTorch raises is a line of its own": re.compile(r"PyTorch raises|Python raises"),
    "a headline says what writes or is written": re.compile(r"^This (?:changes|writes|step)\b"),
    "a person where a program is meant": re.compile(r"\b(?:nobody|somebody|anybody|whoever)\b"),
}
"""What no headline may look like (docs/messages.md)."""

SENTENCE = {
    "a step or an advice begins with a capital letter or with code": re.compile(r"^(?![A-Z`])"),
    "a person where a program is meant": re.compile(r"\b(?:nobody|somebody|anybody|whoever)\b"),
}
"""What no step of a story, and no advice, may look like."""


TITLE = {
    "a title is too long": re.compile(rf".{{{LONGEST_TITLE + 1},}}", re.DOTALL),
    "a title begins with a capital letter": re.compile(r"^(?![A-Z])"),
    "a title ends without a full stop": re.compile(r"\.$"),
    "what a cure costs is a sentence of its own": re.compile(r" \(|: "),
    "a call in a title is code": re.compile(r"^(?:[^`]*`[^`]*`)*[^`]*\w\("),
}
"""What no title of a cure may look like (docs/messages.md). The name of another file and "and 2 more like it" are added
to it where they are needed.
"""

EFFECT = {"an effect is a sentence": re.compile(r"^(?![A-Z`])|[^.]$")}
"""What no sentence on the effect of a cure may look like."""


def badly_titled(report: Report) -> Iterator[tuple[str, str]]:
    """What is wrong with the titles of the cures of a report, offered or not, and with their effects."""
    cures = [cure for finding in report.findings.values() for cure in finding.cures]
    texts = [*((cure.title, TITLE) for cure in cures), *((cure.effect, EFFECT) for cure in cures if cure.effect)]
    texts += ((fix.title, TITLE) for fix in report.removals.values())
    return ((fault, words) for words, faults in texts for fault, found in faults.items() if found.search(words))


def badly_worded(diagnostic: Diagnostic) -> Iterator[tuple[str, str]]:
    """What is wrong with the words of a finding or of a notice, each with the words."""
    steps = [step.message for step in diagnostic.related]
    texts = [(words, WORDING) for words in (*diagnostic.lines, *steps)]
    texts += [(diagnostic.message, HEADLINE), *((words, SENTENCE) for words in (*steps, diagnostic.help or "Help"))]
    return ((fault, words) for words, faults in texts for fault, found in faults.items() if found.search(words))


def _has_no_reason(report: Report, diagnostic: Diagnostic) -> bool:
    """Whether PyTorch raises, and there is neither an edit to try nor a reason why there is none."""
    finding = report.findings.get(diagnostic.place)
    if finding is None or not finding.raises:
        return False
    return not finding.cures and not finding.no_fix


def complaints(block: Block) -> str:
    """Analyse ``block``; empty if every claim holds, else a readable account of what does not."""
    report = analysed(block)
    notes: dict[int, list[str]] = defaultdict(list)
    missing = list(block.expected)
    misses = {label.row: label for label in block.labels if label.kind == "FN"}
    alarms = {label.row: label for label in block.labels if label.kind == "FP"}
    heard: set[int] = set()
    for diagnostic in report.diagnostics:
        row = diagnostic.span.row - block.offset
        said = " ".join((*diagnostic.lines, *(step.message for step in diagnostic.related)))
        text = f"{diagnostic.severity.word} [{diagnostic.name}] {said}"
        match = next(
            (
                expected
                for expected in missing
                if (expected.row, expected.severity, expected.rule) == (row, diagnostic.severity.word, diagnostic.name)
                and (expected.substring or "") in said
            ),
            None,
        )
        if match is not None:
            missing.remove(match)
        elif row in alarms:
            heard.add(row)
        elif row in misses:
            notes[row].append(f"now reported, remove the FN label: {text}")
        else:
            notes[max(row, 1)].append(f"not claimed: {text}")
        for fault, words in badly_worded(diagnostic):
            notes[max(row, 1)].append(f"{fault}: {words}")
        if _has_no_reason(report, diagnostic):
            notes[max(row, 1)].append(f"there is no cure, and no_fix does not say why: {diagnostic.message}")
    for fault, words in badly_titled(report):
        notes[1].append(f"{fault}: {words}")
    for expected in missing:
        notes[expected.row].append(f"claimed, but not reported: {expected}")
    if faults := report.stats.get("faults", 0):
        notes[1].append(f"faults of the engine: {faults}")
    for row, label in alarms.items():
        if row not in heard:
            notes[row].append(f"no longer reported, remove the FP label: {label.why}")
    return block.listing(notes) if notes else ""


def fix_complaints(block: Block) -> str:
    """Apply the fix that the ``fixed=`` block names; empty if the result is the block's text."""
    from tapelint.analysis import fixes
    from tapelint.source.edit import apply

    origin = block.fixes
    with beside(origin) as main:
        report = analysed(origin, main)
        offered = [fix for diagnostic in report.diagnostics for fix in fixes(report, diagnostic)]
    fix = next((fix for fix in offered if block.fixed.lower() in fix.title.lower()), None)
    if fix is None:
        titles = "".join(f"\n     > {fix.title}" for fix in offered) or " none"
        return f"{origin.listing()}\nno fix has {block.fixed!r} in its title; offered:{titles}"
    got, wanted = without_claims(apply(origin.program, fix.edits)), without_claims(block.program)
    if got == wanted:
        return ""
    difference = "\n".join(difflib.unified_diff(wanted.splitlines(), got.splitlines(), "wanted", "got", lineterm=""))
    return f"{block.listing()}\nafter {fix.title!r} the text is another one:\n{difference}"
