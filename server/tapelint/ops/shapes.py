"""The sizes of what an op returns, from a rule of its row: how many dimensions at least, and often which.

    exp(self)         =self        the sizes of self
    mul(self, other)  =self,other  their common sizes, as broadcasting makes them
    view(self, size)  len:size     as many dimensions as there are sizes
    sum(self, dim)    less:self    one for each dimension that is not in dim; none without dim
    stack(tensors)    tensors+1    one more than each of them
    bmm(self, mat2)   3            always

The rules are chosen by running the samples of each op (``tools/ops/shapes.py``): one is kept only if it is right for
all of them. Arguments are sizes (``None`` for one that is not known), lists of sizes, constants, or ``UNKNOWN``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..frozen import frozen

Sizes = tuple[int | None, ...]


@frozen
class Sized:
    """A tensor of these sizes; None if not even their number is known."""

    sizes: Sizes | None


UNKNOWN = object()
"""An argument of which nothing is known."""
Given = Mapping[str, object]


def sizes_of(rule: str, given: Given) -> Sizes | None:
    """What the rule says of these arguments, None where they are not known well enough."""
    if rule.startswith("="):
        return _common([_sizes(given[name]) for name in rule[1:].split(",") if name in given])
    word, _, rest = rule.partition(":")
    handler = _RULES.get(word)
    count = handler(rest, given) if handler is not None else _counted(word, given)
    return None if count is None or count < 0 else (None,) * count


def _sizes(value: object) -> Sizes | None:
    """Of a list of tensors the number of dimensions: the largest, ``cat`` ignores empty ones."""
    if isinstance(value, Sized):
        return value.sizes
    if isinstance(value, (list, tuple)):
        found = [_sizes(item) for item in value]
        return None if not found or None in found else (None,) * max(len(sizes) for sizes in found if sizes is not None)
    return () if isinstance(value, (int, float, complex)) else None


def _rank(name: str, given: Given) -> int | None:
    sizes = _sizes(given.get(name))
    return None if sizes is None else len(sizes)


def _common(found: list[Sizes | None]) -> Sizes | None:
    if not found or None in found:
        return None
    known = [sizes for sizes in found if sizes is not None]
    if len(known) == 1:
        return known[0]
    result: list[int | None] = []
    for place in range(1, max(map(len, known)) + 1):
        column = [sizes[-place] for sizes in known if len(sizes) >= place]
        large = {size for size in column if size not in (1, None)}
        if len(large) > 1:
            return None  # not to be combined
        result.append(large.pop() if large else None if None in column else 1)
    return tuple(reversed(result))


def _counted(word: str, given: Given) -> int | None:
    """``3``, ``self``, ``self+1``."""
    if word.isdigit():
        return int(word)
    name, sign, step = word.partition("+") if "+" in word else word.partition("-")
    rank = _rank(name, given)
    return None if rank is None else rank + int(f"{sign}{step}" or 0)


def _most(names: str, given: Given) -> int | None:
    ranks = [_rank(name, given) for name in names.split(",") if name in given]
    return None if not ranks or None in ranks else max(rank for rank in ranks if rank is not None)


def _len(name: str, given: Given) -> int | None:
    value = given.get(name)
    if isinstance(value, (list, tuple)):
        # view((2, 3)) and view(2, 3)
        inner = value[0] if len(value) == 1 and isinstance(value[0], (list, tuple)) else value
        return len(inner)
    return 1 if type(value) is int else None


def _less(name: str, given: Given) -> int | None:
    """Without the dimensions in ``dim``, of which none means all."""
    rank, dim, keep = _rank(name, given), given.get("dim"), given.get("keepdim", False)
    if rank is None or not isinstance(keep, bool):
        return 0 if dim is None and keep is False else None
    if keep:
        return rank
    if dim is None or dim == [] or dim == ():
        return 0
    gone = _len("dim", given)
    return None if gone is None else max(rank - gone, 0)


def _less_one(name: str, given: Given) -> int | None:
    """Without one dimension, which need not be named."""
    rank, keep = _rank(name, given), given.get("keepdim", False)
    if rank is None or not isinstance(keep, bool):
        return None
    return rank if keep else max(rank - 1, 0)


def _flat(name: str, given: Given) -> int | None:
    rank, start, end = _rank(name, given), given.get("start_dim", 0), given.get("end_dim", -1)
    if not rank or type(start) is not int or type(end) is not int:
        return None if rank is None or rank else 1
    return rank - (end % rank - start % rank)


def _product(names: str, given: Given) -> int | None:
    """Of vectors, matrices and batches of matrices."""
    left, right = (_rank(name, given) for name in names.split(","))
    if left is None or right is None:
        return None
    if left == 1 or right == 1:
        return left + right - 2 if left == right == 1 else max(left, right) - 1
    return max(left, right)


def _equation(name: str, given: Given) -> int | None:
    text = given.get(name)
    if not isinstance(text, str) or "->" not in text or "." in text:
        return None
    return sum(letter.isalpha() for letter in text.partition("->")[2])


_RULES: dict[str, Callable[[str, Given], int | None]] = {
    "max": _most,
    "len": _len,
    "less": _less,
    "less1": _less_one,
    "flat": _flat,
    "product": _product,
    "equation": _equation,
}
