"""The rules for sizes: what they say of arguments that are known, and nothing of others."""

from __future__ import annotations

import pytest

from tapelint import ops
from tapelint.ops.shapes import UNKNOWN, Sized, sizes_of
from tapelint.ops.table import candidates, names

MATRIX, BATCHES, VECTOR, NUMBER = Sized((3, 4)), Sized((None, 3, 4)), Sized((4,)), Sized(())


@pytest.mark.parametrize(
    ("rule", "given", "expected"),
    [
        ("0", {}, ()),
        ("2", {}, (None, None)),
        ("=self", {"self": MATRIX}, (3, 4)),
        ("=self", {"self": Sized(None)}, None),
        ("=self,other", {"self": VECTOR, "other": BATCHES}, (None, 3, 4)),
        ("=self,other", {"self": VECTOR, "other": 2.0}, (4,)),
        ("=self,other", {"self": VECTOR, "other": UNKNOWN}, None),
        ("=self,other", {"self": VECTOR, "other": Sized((3,))}, None),
        ("max:self,other", {"self": VECTOR, "other": BATCHES}, (None, None, None)),
        ("self+1", {"self": VECTOR}, (None, None)),
        ("self-2", {"self": BATCHES}, (None,)),
        ("self-2", {"self": VECTOR}, None),
        ("tensors+1", {"tensors": [VECTOR, VECTOR]}, (None, None)),
        ("len:size", {"size": [2, 3]}, (None, None)),
        ("len:size", {"size": [[2, -1, UNKNOWN]]}, (None, None, None)),
        ("len:size", {"size": 2}, (None,)),
        ("len:size", {"size": UNKNOWN}, None),
        ("less:self", {"self": MATRIX}, ()),
        ("less:self", {"self": Sized(None)}, ()),
        ("less:self", {"self": BATCHES, "dim": [0, 1]}, (None,)),
        ("less:self", {"self": BATCHES, "dim": 1, "keepdim": True}, (None, None, None)),
        ("less:self", {"self": BATCHES, "dim": 1, "keepdim": UNKNOWN}, None),
        ("less:self", {"self": BATCHES, "dim": UNKNOWN}, None),
        ("less1:self", {"self": NUMBER}, ()),
        ("flat:self", {"self": BATCHES}, (None,)),
        ("flat:self", {"self": BATCHES, "start_dim": 1}, (None, None)),
        ("product:self,other", {"self": VECTOR, "other": VECTOR}, ()),
        ("product:self,other", {"self": BATCHES, "other": VECTOR}, (None, None)),
        ("product:self,other", {"self": MATRIX, "other": BATCHES}, (None, None, None)),
        ("equation:equation", {"equation": "bij,bjk->bik"}, (None, None, None)),
        ("equation:equation", {"equation": "ij,jk"}, None),
    ],
)
def test_sizes(rule: str, given: dict[str, object], expected: tuple[int | None, ...] | None) -> None:
    assert sizes_of(rule, given) == expected


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("exp", "=self"),
        ("mul", "=self,other"),
        ("add_", "=self"),
        ("unsqueeze", "self+1"),
        ("unsqueeze_", "self+1"),
        ("transpose", "self"),
        ("view", "len:size"),
        ("stack", "tensors+1"),
        ("dot", "0"),
        ("amax", "less:self"),
        ("matmul", "product:self,other"),
    ],
)
def test_rules_of_the_table(name: str, rule: str) -> None:
    assert rule in {told for op in candidates(name) for told in op.sizes}


def test_sizes_that_depend_on_numbers_have_no_rule() -> None:
    assert not any(op.sizes for name in ("squeeze", "squeeze_", "set_") for op in candidates(name))


def test_most_rows_have_a_rule() -> None:
    rows = [op for name in names() for op in candidates(name) if op.flows and "out" not in op.writes]
    assert sum(bool(op.sizes) for op in rows) > 0.7 * len(rows)
    assert ops.resolve("exp", ["tensor"]).sizes == ("=self",)  # type: ignore[union-attr]
