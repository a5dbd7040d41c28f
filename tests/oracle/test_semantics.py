"""Real PyTorch judges the tables of docs/semantics.md, and the error messages it quotes."""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import sandbox
import torch
import torch.nn.functional as F

from mdspec import Block, read_specification

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tools.docs.groups import GROUPS, NOTHING, PRIVATE, Group, grouped, twins  # noqa: E402

PAGE = ROOT / "docs" / "semantics.md"
QUOTED = re.compile(r"^```text\n(.*?)^```", re.MULTILINE | re.DOTALL)


def quotations() -> list[tuple[Block, str]]:
    """Every quoted message with the program that stands before it."""
    text, blocks = PAGE.read_text(encoding="utf-8"), read_specification(PAGE)
    found = []
    for quoted in QUOTED.finditer(text):
        row = text.count("\n", 0, quoted.start())
        found.append((max((b for b in blocks if b.line <= row), key=lambda b: b.line), quoted[1].strip()))
    return found


@pytest.mark.parametrize(("block", "message"), quotations(), ids=lambda item: getattr(item, "name", ""))
def test_messages_are_quoted_in_full(block: Block, message: str) -> None:
    """So that who searches for the message finds the page."""
    assert sandbox.run(block).error == message


def function(entry: str) -> Callable | None:
    """What a name of the page is in PyTorch: ``F.gelu``, ``linalg.inv``, ``exp``, ``view``."""
    name = entry.partition("(")[0]
    if name.startswith("F."):
        return getattr(F, name[2:], None) or getattr(torch._C._nn, name[2:], None)
    found: object = torch
    for part in name.split("."):
        found = getattr(found, part, None)
    return found or getattr(torch.Tensor, name, None)  # type: ignore[return-value]


NAMES = [(group, entry) for group in GROUPS for entry in grouped()[group] if not entry.startswith("x[")]


def test_every_name_is_public() -> None:
    listed = [entry for _, entry in NAMES] + [entry for entries in twins().values() for entry in entries]
    assert not [entry for entry in listed if not entry.startswith("x[") and function(entry) is None]


def raises(run: Callable[[], object]) -> bool:
    try:
        run()
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error) or "a second time" in str(error), error
        return True
    return False


def applied(entry: str) -> tuple[torch.Tensor, torch.Tensor] | None:
    """A hidden tensor and what the op makes of it alone; None where it needs more or gives something else."""
    leaf = (torch.rand(3, 3) * 0.5 + 0.25).requires_grad_()
    hidden = leaf + torch.eye(3)
    found = function(entry)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = found(hidden)  # type: ignore[misc]
    except (TypeError, RuntimeError, IndexError, ValueError, NotImplementedError, AttributeError):
        return None
    if not isinstance(result, torch.Tensor) or not result.requires_grad or result.is_complex():
        return None
    return None if inspect.isclass(found) or result.grad_fn is hidden.grad_fn else (hidden, result)


SAMPLES = [(group, entry) for group, entry in NAMES if "(" not in entry or entry.endswith("()")]
SAMPLES = [(group, entry) for group, entry in SAMPLES if applied(entry) is not None]


@pytest.mark.parametrize(("group", "entry"), SAMPLES, ids=lambda item: item if isinstance(item, str) else "")
def test_the_table_is_true(group: Group, entry: str) -> None:
    """Write the result, write the input, walk twice: what the row says is what happens."""
    torch.manual_seed(0)
    hidden, result = applied(entry)
    total = result.sum()
    if not result._is_view():
        with torch.no_grad():
            result.add_(0)
        assert raises(total.backward) is (group.write_result == "no"), "the result was written"

    hidden, result = applied(entry)
    with torch.no_grad():
        hidden.add_(0)
    assert raises(result.sum().backward) is (group.write_input == "no"), "the input was written"

    hidden, result = applied(entry)
    result.backward(torch.ones_like(result), inputs=[hidden])
    again = raises(lambda: result.backward(torch.ones_like(result), inputs=[hidden]))
    assert again is (group.walk_twice == "raises"), "walked twice"


@pytest.mark.parametrize("kept", [True, False])
def test_twins_are_true(kept: bool) -> None:
    """After ``x.op_()`` the next write to x raises at backward, or it does not."""
    wrong, tried = [], 0
    for entry in twins()[kept]:
        if "(" in entry or entry.startswith("F."):
            continue
        hidden = (torch.rand(3, 3) * 0.5 + 0.25).requires_grad_() + torch.eye(3)
        try:
            getattr(hidden, entry)()
        except (TypeError, RuntimeError, AttributeError):
            continue
        if hidden.requires_grad:
            tried += 1
            hidden.add_(1)
            if raises(hidden.sum().backward) is not kept:
                wrong.append(entry)
    assert not wrong
    assert tried > 8


def test_enough_was_tried() -> None:
    assert len(SAMPLES) > 120
    assert {NOTHING, PRIVATE} < {group for group, _ in SAMPLES}
