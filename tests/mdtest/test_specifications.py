"""Every block of every specification, and every example, judged by the analyser (without torch)."""

from __future__ import annotations

from pathlib import Path

import pytest

import mdjudge
from mdspec import Block, SpecificationError, complete, read_all, read_claims, read_script, without_claims

HERE = Path(__file__).resolve().parent
BLOCKS = read_all(HERE)
EXAMPLES = [read_script(path) for path in sorted((HERE.parents[1] / "examples").glob("*.py"))]


@pytest.mark.parametrize("block", BLOCKS + EXAMPLES, ids=lambda block: block.name)
def test_reported(block: Block) -> None:
    """Each claimed diagnostic is reported, and nothing else above a hint."""
    if problem := mdjudge.complaints(block):
        pytest.fail(problem, pytrace=False)


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.fixed], ids=lambda block: block.name)
def test_fixed(block: Block) -> None:
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
    ],
)
def test_mistakes_are_named(text: str, words: str) -> None:
    with pytest.raises(SpecificationError) as caught:
        block_of(text)
    assert words in str(caught.value)


def test_claims_are_taken_away_before_texts_are_compared() -> None:
    assert without_claims("a = 1  # torch: ok\nb = 2  # two\n") == "a = 1\nb = 2  # two\n"
