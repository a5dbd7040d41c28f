"""The analyser judges every block of the literate tests and of the corpus, and every example (without torch)."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import mdjudge
import mdreveal
from mdspec import (
    Block,
    SpecificationError,
    complete,
    read_claims,
    read_programs,
    read_script,
    read_silenced,
    without_claims,
)
from tapelint.report.diagnostic import Fix
from tapelint.source.edit import Edit, Span

HERE = Path(__file__).resolve().parent
BLOCKS = read_programs() + read_silenced()
EXAMPLES = [read_script(path) for path in sorted((HERE.parents[1] / "examples").glob("*.py"))]


@pytest.mark.parametrize("block", BLOCKS + EXAMPLES, ids=lambda block: block.name)
def test_claims_are_reported(block: Block) -> None:
    """Each claimed diagnostic is reported, and nothing else."""
    if problem := mdjudge.complaints(block):
        pytest.fail(problem, pytrace=False)


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.reveals], ids=lambda block: block.name)
def test_revealed(block: Block) -> None:
    """The graphs that the engine has built are those that a specification shows."""
    found = mdreveal.revealed(block)
    if found != block.reveals:
        notes = {row: [f"reveals: {text}"] for row, text in found.items()}
        pytest.fail(block.listing(notes), pytrace=False)


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.fixed], ids=lambda block: block.name)
def test_fixes_make_the_text_shown(block: Block) -> None:
    """Each fix that a specification shows is offered and makes exactly the text shown."""
    if problem := mdjudge.fix_complaints(block):
        pytest.fail(problem, pytrace=False)


def block_of(text: str) -> Block:
    return complete(read_claims(Block(Path("here.md"), "here.md::Here#1", 10, text)))


def test_claims_stack_on_one_line() -> None:
    block = block_of('a()  # error: [some-rule] "says \\"so\\"" # hint: [other-rule] # torch: raises "no"\n')
    assert [(e.severity, e.rule, e.substring) for e in block.expected] == [
        ("error", "some-rule", 'says "so"'),
        ("hint", "other-rule", None),
    ]
    assert (block.verdict.kind, block.verdict.substring, block.verdict.row) == ("raises", "no", 1)


def test_labels_keep_their_reason() -> None:
    block = block_of("a()  # FN: needs to know the shape\nb()  # torch: silent it trains nothing\n")
    assert [(label.kind, label.why) for label in block.labels] == [("FN", "needs to know the shape")]
    assert block.verdict.kind == "silent"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a()\n", "here.md:10: the block does not say"),
        ("a()  # torch: ok\nb()  # torch: ok\n", "here.md:12: a second"),
        ("a()  # torch: fine\n", "here.md:11: '# torch: fine'"),
        ("a()  # torch: ok # error: some-rule\n", "here.md:11: expected '# error: [rule-name]"),
        ("a()  # torch: ok # FN:\n", "here.md:11: FN needs a reason"),
        ("a()  # torch: ok # reveals: w\n", "here.md:11: '# reveals:' stands on a line without reveal_graph()"),
    ],
)
def test_mistakes_in_a_specification_are_located(text: str, words: str) -> None:
    with pytest.raises(SpecificationError) as caught:
        block_of(text)
    assert words in str(caught.value)


def test_claims_are_removed_before_texts_are_compared() -> None:
    assert without_claims("a = 1  # torch: ok\nb = 2  # two\n") == "a = 1\nb = 2  # two\n"


@pytest.fixture
def reporting(monkeypatch: pytest.MonkeyPatch):
    """An analyser that reports what a test tells it to: rows of the block, severities, names."""

    def tell(*found: tuple[int, str, str], faults: int = 0) -> None:
        diagnostics = [
            SimpleNamespace(
                span=Span(row + 3, 1, row + 3, 2),
                severity=SimpleNamespace(word=severity),
                name=name,
                message="Writes y",
                lines=("Writes y",),
                raises=None,
                help=None,
                code="TL101",
                place=("here.md", Span(row + 3, 1, row + 3, 2), "TL101"),
                related=(),
            )
            for row, severity, name in found
        ]
        stub = ModuleType("tapelint.analysis")
        stub.analyse = lambda text, path, config, resolve=None: SimpleNamespace(
            diagnostics=diagnostics, findings={}, removals={}, stats={"faults": faults} if faults else {}
        )
        monkeypatch.setitem(sys.modules, "tapelint.analysis", stub)

    return tell


def test_the_judge_accepts_what_is_claimed(reporting) -> None:
    reporting((1, "error", "some-rule"), (2, "hint", "other-rule"))
    text = 'a()  # error: [some-rule] "Writes"\nb()  # hint: [other-rule] # torch: ok\n'
    assert mdjudge.complaints(block_of(text)) == ""


@pytest.mark.parametrize(
    ("text", "found", "words"),
    [
        ("a()  # torch: ok\n", [(1, "warning", "some-rule")], "not claimed: warning [some-rule] Writes y"),
        ("a()  # torch: ok\n", [(1, "hint", "some-rule")], "not claimed: hint [some-rule] Writes y"),
        ("a()  # error: [some-rule] # torch: ok\n", [], "claimed, but not reported: line 1: error [some-rule]"),
        ("a()  # error: [some-rule] # torch: ok\n", [(1, "warning", "some-rule")], "claimed, but not reported"),
        ("a()  # error: [some-rule]\nb()  # torch: ok\n", [(2, "error", "some-rule")], "not claimed"),
        ('a()  # error: [some-rule] "z" # torch: ok\n', [(1, "error", "some-rule")], "claimed, but not reported"),
        ("a()  # error: [some-rule] # torch: ok\n", [(1, "error", "some-rule")] * 2, "not claimed"),
        ("a()  # hint: [some-rule] # torch: ok\n", [], "claimed, but not reported"),
        ("a()  # FN: too deep # torch: ok\n", [(1, "error", "some-rule")], "remove the FN label"),
        ("a()  # FP: too shallow # torch: ok\n", [], "remove the FP label: too shallow"),
    ],
)
def test_the_judge_rejects_what_is_not_claimed(reporting, text: str, found: list, words: str) -> None:
    reporting(*found)
    assert words in mdjudge.complaints(block_of(text))


@pytest.mark.parametrize(("after", "words"), [("y = x + 1\n", ""), ("y = x + 2\n", "the text is another one")])
def test_a_fix_is_compared_with_the_text_shown(monkeypatch: pytest.MonkeyPatch, after: str, words: str) -> None:
    fix = Fix("Write out of place", "safe", True, (Edit(Span(4, 1, 4, 7), "y = x + 1"),))
    stub = ModuleType("tapelint.analysis")
    stub.analyse = lambda text, path, config, resolve=None: SimpleNamespace(diagnostics=[None], findings={})
    stub.fixes = lambda report, diagnostic: (fix,)
    monkeypatch.setitem(sys.modules, "tapelint.analysis", stub)
    block = block_of(after.rstrip() + "  # torch: ok\n")
    block.fixed, block.fixes = "Out Of Place", block_of("y += 1  # error: [some-rule] # torch: ok\n")
    problem = mdjudge.fix_complaints(block)
    assert words in problem if words else not problem


def test_the_judge_rejects_faults(reporting) -> None:
    reporting(faults=2)
    assert "faults of the engine: 2" in mdjudge.complaints(block_of("a()  # torch: ok\n"))


def test_the_judge_wants_a_cure_or_a_reason(reporting, monkeypatch: pytest.MonkeyPatch) -> None:
    reporting((1, "error", "some-rule"))
    found = sys.modules["tapelint.analysis"].analyse("", "", None).diagnostics[0]
    finding = SimpleNamespace(raises="no", cures=(), no_fix=None)
    report = SimpleNamespace(diagnostics=[found], findings={found.place: finding}, removals={}, stats={})
    monkeypatch.setattr(sys.modules["tapelint.analysis"], "analyse", lambda *_, **__: report)
    block = block_of("a()  # error: [some-rule] # torch: ok\n")
    assert "no_fix does not say why" in mdjudge.complaints(block)
    finding.no_fix = "what is meant cannot be seen"
    assert mdjudge.complaints(block) == ""


@pytest.mark.parametrize(
    ("title", "effect", "words"),
    [
        ("Detach `h`", "No gradient flows into earlier iterations.", ""),
        (f"Detach `{'h' * 60}`", "", "a title is too long"),
        ("Detach `h` (costs memory)", "", "what a cure costs is a sentence of its own"),
        ("Call zero_grad() first", "", "a call in a title is code"),
        ("Detach `h`", "no gradient flows", "an effect is a sentence"),
    ],
)
def test_the_judge_reads_titles_of_cures(title: str, effect: str, words: str) -> None:
    finding = SimpleNamespace(cures=[SimpleNamespace(title=title, effect=effect)])
    report = SimpleNamespace(findings={1: finding}, removals={})
    assert [fault for fault, _ in mdjudge.badly_titled(report)] == ([words] if words else [])


def test_known_limits_pass(reporting) -> None:
    reporting((2, "error", "some-rule"))
    assert mdjudge.complaints(block_of("a()  # FN: too deep\nb()  # FP: too shallow # torch: ok\n")) == ""
