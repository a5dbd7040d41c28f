"""Every row of the op table is well formed: it parses, and it speaks of its own parameters and outputs."""

from __future__ import annotations

from tapelint.ops import layers, table
from tapelint.ops.binding import _SURE
from tapelint.ops.layers import bare
from tapelint.ops.schema import Layer, Op
from tapelint.ops.text import parse_layer, parse_op, split_name


def rows_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


ROWS = rows_of(table.TABLE.read_text(encoding="utf-8"))
LAYERS = rows_of(layers.LAYERS.read_text(encoding="utf-8"))


def complaints(op: Op) -> list[str]:
    """What is wrong with a row, in words."""
    names = [param.name for param in op.params]
    results = {"result", *(f"result{index}" for index in range(1, max(op.outputs, 10)))}
    found = []
    if len(set(names)) != len(names):
        found.append("two parameters of one name")
    if unknown := {param.kind.rstrip("?") for param in op.params if not param.kind.startswith("'")} - set(_SURE):
        found.append(f"kinds {unknown}")
    if not op.flows <= set(names):
        found.append(f"flows to {op.flows - set(names)}")
    if not set(op.writes) <= set(names):
        found.append(f"writes {op.writes}")
    for saved in op.saves:
        if saved.what not in {"~", *names, *results}:
            found.append(f"saves {saved.what}")
        if not saved.gradient_of <= op.flows:
            found.append(f"saves {saved.what} for {saved.gradient_of - op.flows}")
    if op.saves and not op.flows:
        found.append("saves, but has no gradient")
    if len({(saved.what, saved.gradient_of) for saved in op.saves}) != len(op.saves):
        found.append("saves the same twice")
    if op.view not in ("", "view", "multi", "maybe", "same"):
        found.append(f"view {op.view}")
    if op.source not in ("derivatives", "schema", "probe"):
        found.append(f"source {op.source}")
    return found


def test_the_table_is_not_empty() -> None:
    assert len(ROWS) > 1800
    assert len(LAYERS) > 140


def test_every_row_is_well_formed() -> None:
    assert {line: wrong for line in ROWS if (wrong := complaints(parse_op(line)))} == {}


def test_every_layer_is_well_formed() -> None:
    for line in LAYERS:
        layer = parse_layer(line)
        for op in (layer.op, layer.eval_op, layer.inplace, layer.unreduced, layer.indices, layer.bidirectional):
            if op is not None:
                assert complaints(op) == [], line
                assert_speaks_of(layer, op)


def assert_speaks_of(layer: Layer, op: Op) -> None:
    """The op has the layer's parameters and buffers among its own."""
    tensors = [bare(name) for name in (*layer.params, *layer.buffers)]
    assert {"parameters" if name == "*" else name for name in tensors} <= {param.name for param in op.params}
    assert layer.output.count("(") == layer.output.count(")")
    assert set(layer.output) <= set("T(),N")


def test_overloads_are_distinguished() -> None:
    heads = [line.partition("(")[0] for line in ROWS]
    assert sorted({head for head in heads if heads.count(head) > 1}) == []


def test_rows_are_grouped_by_name() -> None:
    order = list(dict.fromkeys(split_name(line) for line in ROWS))
    assert order == sorted(order)
