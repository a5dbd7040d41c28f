"""The dtypes of PyTorch, and the methods that give a tensor of another one, or on another device.

Names and legacy classes of tensors are those of https://docs.pytorch.org/docs/stable/tensor_attributes.html and of
``dir(torch)``; the methods those of ``torch.Tensor`` and ``torch.nn.Module``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from ..frozen import frozen

Family = Literal["float", "int", "bool"]
"""Only what is of the family ``float``, complex numbers among it, can require grad."""


@frozen
class Dtype:
    """``method`` converts a tensor to the dtype, ``torch.<elements>Tensor`` is the class of tensors of it on the CPU;
    both are empty where there is none. A module has the methods of real floating point.
    """

    names: tuple[str, ...]
    family: Family | None
    method: str = ""
    elements: str = ""
    is_complex: bool = False


DTYPES = (
    Dtype(("float32", "float"), "float", "float", "Float"),
    Dtype(("float64", "double"), "float", "double", "Double"),
    Dtype(("float16", "half"), "float", "half", "Half"),
    Dtype(("bfloat16",), "float", "bfloat16", "BFloat16"),
    Dtype(("complex32", "chalf"), "float", "chalf", is_complex=True),
    Dtype(("complex64", "cfloat"), "float", "cfloat", is_complex=True),
    Dtype(("complex128", "cdouble"), "float", "cdouble", is_complex=True),
    Dtype(("int8",), "int", "char", "Char"),
    Dtype(("int16", "short"), "int", "short", "Short"),
    Dtype(("int32", "int"), "int", "int", "Int"),
    Dtype(("int64", "long"), "int", "long", "Long"),
    Dtype(("uint8",), "int", "byte", "Byte"),
    Dtype(("uint16",), "int"),
    Dtype(("uint32",), "int"),
    Dtype(("uint64",), "int"),
    Dtype(("bool",), "bool", "bool", "Bool"),
    Dtype(("qint8",), None),
    Dtype(("quint8",), None),
    Dtype(("qint32",), None),
)
"""The default one, single precision, is the first."""

BY_NAME: Mapping[str, Dtype] = MappingProxyType({name: dtype for dtype in DTYPES for name in dtype.names})
ELEMENTS: Mapping[str, Dtype] = MappingProxyType({dtype.elements: dtype for dtype in DTYPES if dtype.elements})
TO_DTYPE: Mapping[str, Dtype] = MappingProxyType({dtype.method: dtype for dtype in DTYPES if dtype.method})
OTHER_FLOATS = frozenset(
    name for dtype in DTYPES[1:] if dtype.family == "float" and not dtype.is_complex for name in dtype.names
)
"""Names of real floating point that is not of the default precision."""

MOVING = frozenset(("to", "cpu", "cuda", "xpu"))
"""Methods of tensors and modules that move what they are called on to a device."""
OF_MODULES = MOVING | {name for name, dtype in TO_DTYPE.items() if dtype.family == "float" and not dtype.is_complex}
"""Methods by which a module converts itself, and a tensor returns another."""
OF_TENSORS = frozenset((*MOVING, *TO_DTYPE, "contiguous", "type_as", "type", "pin_memory"))
"""Methods of tensors that return the very tensor where there is nothing to do, and a copy otherwise."""


def family_of(name: str) -> Family | None:
    """The family of a dtype by its name: ``"int"`` for ``"long"``."""
    dtype = BY_NAME.get(name)
    return None if dtype is None else dtype.family
