"""Values compare as what they stand for."""

from __future__ import annotations

import ast

from tapelint.autograd import ProgramPoint
from tapelint.domain.values import NONE, TRUE, MissingGrad


def test_a_missing_gradient_equals_none_alone() -> None:
    point = ProgramPoint(ast.Pass())
    read, again = MissingGrad(None, 1, point, point), MissingGrad(None, 2, point, point)
    assert read == NONE and NONE == read and read == again and hash(read) == hash(NONE)
    assert read != TRUE and TRUE != read
    assert {NONE: 1}[read] == 1
