"""The files of the op table, as text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch
from tools.ops import attributes as attribute_rows
from tools.ops import derived, layer_shapes, native, probed, python_functions, second_layers, shapes
from tools.ops import layers as layer_rows
from tools.ops import second as second_order
from tools.ops.hand_samples import SIGNATURES
from tools.ops.text import layer_line, op_line

from tapelint.ops.layers import layer_names
from tapelint.ops.schema import Op
from tapelint.ops.table import names

HEADER = """\
# {what} Written by `python -m tools.ops` from PyTorch {version};
# do not edit. The notation is explained in tapelint/ops/text.py.
"""
TABLE = "What autograd records for each op, one overload per line."
SECOND = "What the gradient of an op depends on, one overload per line."
LAYERS = "What autograd records for each layer of torch.nn, one per line."
ATTRIBUTES = "What modules, classes and objects of PyTorch have."


def table() -> str:
    native_rows = [op for op in derived.rows() if op.name not in SIGNATURES or op.writes == ("out",)]
    native_rows = list(probed.measured(probed.with_scalars(native_rows)))
    rows = [op for op in native_rows if not python_functions.hides_native(op.name)]
    rows += [op for op in probed.composite_rows() if not python_functions.hides_native(op.name)]
    rows += [*python_functions.rows(), *probed.described_rows()]
    reordered = {op.name for op in rows if _self_is_elsewhere(op)}
    rows += [_as_method(op) for op in rows if op.name in reordered and op.writes != ("out",) and _has_self(op)]
    rows = list(shapes.with_rules(rows))
    rows = sorted(rows, key=lambda op: (op.name, 0 if op.name in SIGNATURES else native.rank(op)))
    return header(TABLE) + "".join(op_line(op) + "\n" for op in rows)


def _self_is_elsewhere(op: Op) -> bool:
    """``torch.where(condition, x, y)`` is ``x.where(condition, y)``: as a method it needs a row of its own."""
    positional = [param.name for param in op.params if not param.keyword]
    kinds = {param.name: param.kind for param in op.params}
    elsewhere = "self" in positional[1:] and kinds["self"] in ("tensor", "operand") and "out" not in op.writes
    return elsewhere and hasattr(torch.Tensor, op.name) and not op.name.startswith("__")


def _has_self(op: Op) -> bool:
    return any(param.name == "self" and param.kind in ("tensor", "operand") for param in op.params)


def _as_method(op: Op) -> Op:
    first = [replace(param, kind="tensor") for param in op.params if param.name == "self"]
    rest = [param for param in op.params if param.name != "self"]
    return replace(op, name=f"Tensor.{op.name}", params=(*first, *rest))


def layers() -> str:
    return header(LAYERS) + "".join(layer_line(layer_shapes.with_sizes(layer)) + "\n" for layer in layer_rows.layers())


def second() -> str:
    head = header(SECOND).replace("ops/text.py", "ops/second.py")
    return head + "".join(line + "\n" for line in (*second_order.lines(), *second_layers.lines()))


def attributes() -> str:
    head = header(ATTRIBUTES).replace("ops/text.py", "ops/torch_attributes.py")
    return head + "".join(line + "\n" for line in attribute_rows.lines())


def header(what: str) -> str:
    return HEADER.format(what=what, version=torch.__version__.partition("+")[0])


def write(folder: Path) -> None:
    """Writes the files, and says what has no row and why."""
    (folder / "table.txt").write_text(table(), encoding="utf-8")
    (folder / "layers.txt").write_text(layers(), encoding="utf-8")
    (folder / "second.txt").write_text(second(), encoding="utf-8")
    (folder / "attributes.txt").write_text(attributes(), encoding="utf-8")
    there = {*names(), *layer_names()}
    for name, reason in {**probed.LEFT_OUT, **layer_rows.LEFT_OUT}.items():
        if name.partition("/")[0] not in there:
            print(f"left out: {name}: {reason[:100]}")
