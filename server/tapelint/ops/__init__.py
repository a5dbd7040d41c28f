"""What autograd records for each op: the table, and how to find a row from what users write.

The tables are generated from PyTorch (``python -m tools.ops``): nothing in them is written by hand.
"""

from __future__ import annotations

from tapelint.ops.binding import bind, constant_kind
from tapelint.ops.layers import layer, layer_names, layers_by_op
from tapelint.ops.naming import op_name, operator_name, subscript_name
from tapelint.ops.schema import Layer, Op, Param, Saved
from tapelint.ops.table import candidates, joins, names, overload, resolve, takes
from tapelint.ops.traits import Trait, traits_of

__all__ = [
    "Layer",
    "Op",
    "Param",
    "Saved",
    "Trait",
    "bind",
    "candidates",
    "constant_kind",
    "joins",
    "layer",
    "layer_names",
    "layers_by_op",
    "names",
    "op_name",
    "operator_name",
    "overload",
    "resolve",
    "subscript_name",
    "takes",
    "traits_of",
]
