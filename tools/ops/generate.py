"""The two files of the op table, as text."""

from __future__ import annotations

from pathlib import Path

import torch

from tools.ops import derived, native, probed, python_functions
from tools.ops.hand_samples import SIGNATURES
from tools.ops.text import op_line

HEADER = """\
# What autograd records for each op, one overload per line. Written by `python -m tools.ops` from PyTorch {version};
# do not edit. The notation is explained in tapelint/ops/text.py.
"""


def table() -> str:
    native_rows = [op for op in derived.rows() if op.name not in SIGNATURES]
    rows = [op for op in probed.with_scalars(native_rows) if not python_functions.hides_native(op.name)]
    rows += [op for op in probed.composite_rows() if not python_functions.hides_native(op.name)]
    rows += [*python_functions.rows(), *probed.described_rows()]
    rows = sorted(rows, key=lambda op: (op.name, 0 if op.name in SIGNATURES else native.rank(op)))
    return header() + "".join(op_line(op) + "\n" for op in rows)


def header() -> str:
    return HEADER.format(version=torch.__version__.partition("+")[0])


def write(folder: Path) -> None:
    (folder / "table.txt").write_text(table(), encoding="utf-8")
