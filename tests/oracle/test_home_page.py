"""The error on the home page is what PyTorch raises for the first program of README."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_error_of_the_home_page_is_pytorchs_own() -> None:
    program = re.search(r"```py\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    shown = re.search(r"```text\nRuntimeError: (.*?)\n```", (ROOT / "docs" / "index.md").read_text(encoding="utf-8"))
    assert program and shown
    with pytest.raises(RuntimeError) as raised:
        exec(program[1], {})
    assert str(raised.value) == shown[1]
