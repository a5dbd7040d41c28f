"""The two files of the op table, as text."""

from __future__ import annotations

from pathlib import Path

import torch

from tools.ops import derived
from tools.ops.text import op_line

HEADER = """\
# What autograd records for each op, one overload per line. Written by `python -m tools.ops` from PyTorch {version};
# do not edit. The notation is explained in tapelint/ops/text.py.
"""


def table() -> str:
    rows = sorted(derived.rows(), key=lambda op: op.name)
    return header() + "".join(op_line(op) + "\n" for op in rows)


def header() -> str:
    return HEADER.format(version=torch.__version__.partition("+")[0])


def write(folder: Path) -> None:
    (folder / "table.txt").write_text(table(), encoding="utf-8")
