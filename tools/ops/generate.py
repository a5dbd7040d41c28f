"""The two files of the op table, as text."""

from __future__ import annotations

from pathlib import Path

import torch
from tools.ops import derived, native, probed, python_functions
from tools.ops import layers as layer_rows
from tools.ops.hand_samples import SIGNATURES
from tools.ops.text import layer_line, op_line

HEADER = """\
# {what} Written by `python -m tools.ops` from PyTorch {version};
# do not edit. The notation is explained in tapelint/ops/text.py.
"""
TABLE = "What autograd records for each op, one overload per line."
LAYERS = "What autograd records for each layer of torch.nn, one per line."


def table() -> str:
    native_rows = [op for op in derived.rows() if op.name not in SIGNATURES or op.writes == ("out",)]
    rows = [op for op in probed.with_scalars(native_rows) if not python_functions.hides_native(op.name)]
    rows += [op for op in probed.composite_rows() if not python_functions.hides_native(op.name)]
    rows += [*python_functions.rows(), *probed.described_rows()]
    rows = sorted(rows, key=lambda op: (op.name, 0 if op.name in SIGNATURES else native.rank(op)))
    return header(TABLE) + "".join(op_line(op) + "\n" for op in rows)


def layers() -> str:
    return header(LAYERS) + "".join(layer_line(layer) + "\n" for layer in layer_rows.layers())


def header(what: str) -> str:
    return HEADER.format(what=what, version=torch.__version__.partition("+")[0])


def write(folder: Path) -> None:
    """Writes both files, and says what has no row and why."""
    (folder / "table.txt").write_text(table(), encoding="utf-8")
    (folder / "layers.txt").write_text(layers(), encoding="utf-8")
    for name, reason in {**probed.LEFT_OUT, **layer_rows.LEFT_OUT}.items():
        print(f"left out: {name}: {reason[:100]}")
