"""Whether an exception is a program's own, and not one that PyTorch raises."""

from __future__ import annotations

import ast
import traceback
import unittest.case

import pytest

EXPECTING: type = unittest.case._AssertRaisesBaseContext
"""What `assertRaises` and its kin make: it complains where the exception does not come, or comes with other words."""


def is_own(error: BaseException, program: str, filename: str) -> bool:
    """Whether ``program`` itself ends so: a ``raise`` of its own began ``error``, not in answer to another one; or a
    test expects an exception that has not come. A failed ``assert`` is not meant: it says what is to be computed.
    """
    if isinstance(error, pytest.fail.Exception):
        return True
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if any(isinstance(frame.f_locals.get("self"), EXPECTING) for frame in frames):
        return True
    if error.__context__ is not None or not frames or frames[-1].f_code.co_filename != filename:
        return False
    row = [row for _, row in traceback.walk_tb(error.__traceback__)][-1]
    raising = (node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Raise))
    return any(node.lineno <= row <= (node.end_lineno or node.lineno) for node in raising)
