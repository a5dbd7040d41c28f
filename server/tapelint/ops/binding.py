"""Which overload does a call run? Arguments are distinguished by coarse kinds, as PyTorch's own argument parser does.

The kinds of arguments: ``tensor``, ``3d`` (a tensor known to have three dimensions; ``0d`` to ``9d``), ``number`` (int
or float, not known which), ``int`` and ``float`` (known constants), ``bool``, ``true``, ``false``, ``str``, ``none``,
``list`` (tensors, or not known what), ``ints``, ``dtype``, ``other`` (a device, a function, ...), ``unknown``, and the
constants that some rows are about: a quoted ``'mean'``, a small number such as ``0`` or ``-1`` (see ``constant_kind``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tapelint.ops.schema import Op, Param

_NUMBERS = frozenset({"number", "int", "float", "bool", "true", "false"})
_BOOLS = frozenset({"bool", "true", "false"})
_RANKS = frozenset(f"{rank}d" for rank in range(10))
_TENSORS = _RANKS | {"tensor"}
# Numbers that make an op another one: ``dropout(x, 0)``, ``matrix_power(x, -1)``.
_LITERALS = {"0": "int", "1": "int", "2": "int", "3": "int", "-1": "int", "0.0": "float"}


def constant_kind(value: object) -> str | None:
    """The kind of an argument that is this constant; None for what is no constant of a program."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, (int, float)):
        literal = str(value) if -1 <= value <= 3 else ""
        return literal if literal in _LITERALS else "int" if isinstance(value, int) else "float"
    return None


# Which kinds of arguments surely fit a parameter, and which might.
_SURE: dict[str, frozenset[str]] = {
    "tensor": _TENSORS,
    "matrix": frozenset({"1d", "2d"}),
    **{rank: frozenset({rank}) for rank in _RANKS},
    "0": frozenset({"0.0"}),
    **{literal: frozenset() for literal in _LITERALS if literal != "0"},
    "tensors": frozenset({"list"}),
    "operand": _NUMBERS | _TENSORS,
    "none": frozenset(),
    "number": _NUMBERS,
    "int": frozenset({"int"}) | _BOOLS,
    "float": _NUMBERS,
    "ints": frozenset({"ints", "int"}),
    "bool": _BOOLS,
    "true": frozenset({"true"}),
    "false": frozenset({"false"}),
    "str": frozenset({"str"}),
    "dtype": frozenset({"dtype"}),
    "any": _NUMBERS | _TENSORS | {"list", "ints", "str", "dtype", "other"},
    "other": frozenset({"other", "str", "int", "number", "float", "ints", "dtype", "bool", "true", "false"}),
}
_MAYBE: dict[str, frozenset[str]] = {
    "matrix": frozenset({"tensor"}),
    **{rank: frozenset({"tensor"}) for rank in _RANKS},
    **{literal: frozenset({"number"}) for literal in _LITERALS},
    "int": frozenset({"number"}),
    "ints": frozenset({"list", "number"}),
    "true": frozenset({"bool"}),
    "false": frozenset({"bool"}),
    "other": frozenset({"list"}),
}
# NumPy's spellings, and ``input`` for what a method calls self: PyTorch's argument parser takes them for any op.
_SPELLINGS = {"input": "self", "x": "self", "x1": "self", "axis": "dim", "keepdims": "keepdim", "x2": "other"}


def bind(op: Op, positional: Sequence[object], keywords: Mapping[str, object]) -> dict[str, object] | None:
    """Arguments by parameter; ``None`` if they do not go with it. A variadic parameter gets a tuple.

    The only positional parameter of a function, next to ``self``, may be spelled out: ``view(2, 3)``.
    """
    if len(positional) <= len(op.slots) and not op.spreads:
        bound = {param.name: argument for param, argument in zip(op.slots, positional)}
    else:
        bound, rest = _spread(op.slots, tuple(positional))
        if rest:
            return None
    for keyword, argument in keywords.items():
        name = keyword if keyword in op.names else _SPELLINGS.get(keyword, keyword)
        if name not in op.names or name in bound:
            return None
        bound[name] = argument
    return bound if bound.keys() >= op.needed else None


def _spread(slots: Sequence[Param], rest: tuple[object, ...]) -> tuple[dict[str, object], tuple[object, ...]]:
    """Arguments by parameter where one of these may take all that are left, and those for which there is none."""
    bound: dict[str, object] = {}
    for index, param in enumerate(slots):
        if not rest:
            break
        if param.variadic or (len(rest) > 1 and _takes_all(slots, index)):
            return {**bound, param.name: rest}, ()
        bound[param.name] = rest[0]
        rest = rest[1:]
    return bound, rest


def _takes_all(slots: Sequence[Param], index: int) -> bool:
    is_only = index == len(slots) - 1 and all(param.name == "self" for param in slots[:index])
    return is_only and slots[index].kind.rstrip("?") == "ints"


def fit(op: Op, positional: Sequence[str], keywords: Mapping[str, str]) -> bool | None:
    """True where the arguments surely fit, ``None`` where they might, False where they do not."""
    bound = bind(op, positional, keywords)
    if bound is None:
        return False
    sure = True
    for param in op.params:
        if param.name not in bound:
            continue
        verdict = _fits(param, bound[param.name])
        if verdict is False:
            return False
        sure = sure and verdict is True
    return True if sure else None


def _fits(param: Param, argument: object) -> bool | None:
    if isinstance(argument, tuple):
        element = {"tensors": "tensor", "ints": "int"}.get(param.kind.rstrip("?"), param.kind)
        verdicts = [_kind_fits(element, kind) for kind in argument]
        if param.variadic and len(argument) == 1 and argument[0] in ("list", "unknown"):
            return True if argument[0] == "list" else None
        return False if False in verdicts else None if None in verdicts else True
    if argument == "none":
        return param.kind.endswith("?") or not param.required
    return _kind_fits(param.kind.rstrip("?"), str(argument))


def _kind_fits(kind: str, argument: str) -> bool | None:
    if argument == "unknown":
        return None
    if argument == kind:
        return True
    if kind.startswith("'"):
        return None if argument == "str" else False
    if argument in _SURE[kind]:
        return True
    argument = "str" if argument.startswith("'") else _LITERALS.get(argument, argument)
    if argument == kind or argument in _SURE[kind]:
        return True
    return None if argument in _MAYBE.get(kind, ()) else False
