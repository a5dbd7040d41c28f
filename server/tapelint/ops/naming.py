"""From what users write to the name of a row: ``torch.special.xlogy``, ``x ** 2``, ``x[i]``, ``Tensor.__add__``."""

from __future__ import annotations

from functools import lru_cache

from tapelint.ops.table import names

_NAMESPACES = (
    ("torch.nn.functional.", "nn.functional."),
    ("torch.Tensor.", ""),
    ("torch.linalg.", "linalg_"),
    ("torch.special.", "special_"),
    ("torch.fft.", "fft_"),
    ("torch.functional.", ""),
    ("torch.", ""),
)

_OPERATORS = {
    "Add": "add",
    "Sub": "sub",
    "Mult": "mul",
    "Div": "div",
    "FloorDiv": "floor_divide",
    "Mod": "remainder",
    "Pow": "pow",
    "MatMult": "matmul",
    "BitAnd": "bitwise_and",
    "BitOr": "bitwise_or",
    "BitXor": "bitwise_xor",
    "LShift": "bitwise_left_shift",
    "RShift": "bitwise_right_shift",
    "USub": "neg",
    "UAdd": "positive",
    "Invert": "bitwise_not",
    "Eq": "eq",
    "NotEq": "ne",
    "Lt": "lt",
    "LtE": "le",
    "Gt": "gt",
    "GtE": "ge",
}
# ``2 - x`` and ``2 + x``: where the operands may not be swapped the tensor's own reflected method has a row.
_REFLECTED = {
    "Sub": "__rsub__",
    "Div": "__rtruediv__",
    "FloorDiv": "__rfloordiv__",
    "Mod": "__rmod__",
    "Pow": "__rpow__",
    "MatMult": "__rmatmul__",
    "LShift": "__rlshift__",
    "RShift": "__rrshift__",
}
# ``x @= w`` has no in-place method: Python falls back to ``x = x @ w``.
_NOT_IN_PLACE = frozenset({"MatMult"})

_DUNDERS = {
    "__add__": "Add",
    "__sub__": "Sub",
    "__mul__": "Mult",
    "__truediv__": "Div",
    "__div__": "Div",
    "__floordiv__": "FloorDiv",
    "__mod__": "Mod",
    "__pow__": "Pow",
    "__matmul__": "MatMult",
    "__and__": "BitAnd",
    "__or__": "BitOr",
    "__xor__": "BitXor",
    "__lshift__": "LShift",
    "__rshift__": "RShift",
    "__eq__": "Eq",
    "__ne__": "NotEq",
    "__lt__": "Lt",
    "__le__": "LtE",
    "__gt__": "Gt",
    "__ge__": "GtE",
}
_UNARY_DUNDERS = {"__neg__": "neg", "__pos__": "positive", "__invert__": "bitwise_not", "__abs__": "abs"}

# Methods that only a machine with the device can run, so that they could not be measured: PyTorch has them call ``to``.
_ALIASES = {
    "torch.Tensor.cuda": "to",
    "torch.Tensor.xpu": "to",
    "torch.Tensor.mtia": "to",
    "torch.Tensor.ipu": "to",
    # The one function whose op has another name.
    "torch.nn.functional.logsigmoid": "log_sigmoid",
}


@lru_cache(4096)
def op_name(dotted: str) -> str | None:
    """The name of the rows for a function or method spelled out in full, ``None`` if the table has none."""
    if dotted in _ALIASES:
        return _ALIASES[dotted]
    prefix, replacement = next(((p, r) for p, r in _NAMESPACES if dotted.startswith(p)), ("", ""))
    if not prefix:
        return None
    base = dotted[len(prefix) :]
    if base.startswith("__"):
        dunder = _dunder_name(base)
        if dunder is not None:
            return dunder
    # Some functions of torch.nn.functional are the op itself: F.gelu, F.conv2d. Some methods take other arguments than
    # the function of their name: x.where(condition, y).
    own = {"torch.nn.functional.": f"nn.functional.{base}", "torch.Tensor.": f"Tensor.{base}"}.get(prefix)
    for name in (own, replacement.removeprefix("nn.functional.") + base):
        if name in names():
            return name
    return None


def _dunder_name(base: str) -> str | None:
    if base in _UNARY_DUNDERS:
        return _UNARY_DUNDERS[base]
    if base in _DUNDERS:
        return operator_name(_DUNDERS[base])
    for reflected, inplace in ((True, False), (False, True)):
        plain = f"__{base[3:]}"
        if base[2] == ("r" if reflected else "i") and plain in _DUNDERS:
            return operator_name(_DUNDERS[plain], reflected=reflected, inplace=inplace)
    return None


def operator_name(operator: str, *, reflected: bool = False, inplace: bool = False) -> str | None:
    """The name of the rows for an operator of the ``ast`` module.

    ``reflected`` means that only the right operand is a tensor, ``2 - x``; the arguments are then ``(x, 2)``.
    """
    if reflected and operator in _REFLECTED:
        return _REFLECTED[operator]
    name = _OPERATORS.get(operator)
    if name is None or not inplace or operator in _NOT_IN_PLACE:
        return name
    return f"{name}_"


def subscript_name(*, write: bool, has_tensor_index: bool) -> str:
    """``x[i]`` and ``x[i] = y``, where ``i`` is made of ints, slices, None and ..., or has a tensor or a list in it."""
    return f"{'setitem' if write else 'getitem'}.{'index' if has_tensor_index else 'basic'}"
