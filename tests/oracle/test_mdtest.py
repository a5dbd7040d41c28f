"""Real PyTorch judges every specification and every example: what their ``# torch:`` lines say is what happens."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import sandbox

from mdspec import TESTS, Block, read_claims, read_programs, read_script, read_silenced

BLOCKS = read_programs()
EXAMPLES = [read_script(path) for path in sorted((TESTS.parent / "examples").glob("*.py"))]


@pytest.mark.parametrize("block", BLOCKS + read_silenced() + EXAMPLES, ids=lambda block: block.name)
def test_torch_agrees(block: Block) -> None:
    """The block runs to its end, or raises the error it names at the line it names."""
    if problem := sandbox.complaint(block):
        pytest.fail(problem, pytrace=False)


@pytest.mark.parametrize("block", BLOCKS + EXAMPLES, ids=lambda block: block.name)
def test_claims_fit_the_truth(block: Block) -> None:
    """Only a program that PyTorch refuses, or harms in silence, may claim an error; what is reported has a cause."""
    loud = [e for e in block.expected if e.severity in ("error", "warning")]
    if block.verdict.kind == "ok" and loud:
        pytest.fail(f"{block.listing()}\nPyTorch runs this, yet it claims {loud[0]}", pytrace=False)
    if block.verdict.kind == "silent" and any(e.severity == "error" for e in loud):
        pytest.fail(f"{block.listing()}\nan error claims that PyTorch raises, and it does not", pytrace=False)
    # What raises only with certain data, or in a cell that is run again, is told as an information.
    told = [e for e in block.expected if e in loud or e.severity == "information"]
    if block.verdict.kind == "raises" and not told and not any(label.kind == "FN" for label in block.labels):
        pytest.fail(f"{block.listing()}\nPyTorch raises; claim a diagnostic or label the miss", pytrace=False)


@pytest.mark.parametrize("block", EXAMPLES, ids=lambda block: block.name)
def test_examples_quote_torch(block: Block) -> None:
    """The message an example's docstring quotes is the one PyTorch prints, up to where the quotation breaks off."""
    rows = ast.get_docstring(ast.parse(block.text)).splitlines()
    quoted = " ".join(row.strip() for row in rows if row.startswith("    ")).removesuffix(" ...")
    error = " ".join(sandbox.run(block).error.split())
    assert bool(quoted) == (block.verdict.kind == "raises") == bool(error)
    assert error.startswith(quoted), f"quoted  {quoted!r}\nprinted {error!r}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('x = 1\nx / 0  # torch: raises "division"\n', ""),
        ('def f():\n    return 1 / 0  # torch: raises "division"\nf()\n', ""),
        ("x = 1  # torch: ok\n", ""),
        ("1 / 0  # torch: ok\n", "ZeroDivisionError"),
        ("1 / 0  # torch: silent no\n", "ZeroDivisionError"),
        ('1 / 1  # torch: raises "division"\n', "did not raise"),
        ('1 / 0  # torch: raises "second time"\n', "raised here"),
        ('x = 1  # torch: raises "division"\n1 / 0\n', "raised here"),
        ("reveal_graph(torch.ones(2))  # reveals: no graph # torch: ok\n", ""),
        ("reveal_graph(torch.ones(2))  # reveals: w # torch: ok\n", "reveals: no graph"),
    ],
)
def test_false_claims_are_rejected(text: str, words: str) -> None:
    problem = sandbox.complaint(read_claims(Block(Path("here.md"), "here.md::Here#1", 10, text)))
    assert words in problem if words else not problem
