"""Which files pytest runs."""

from __future__ import annotations

import os


def is_test_file(path: str) -> bool:
    """Whether pytest finds tests in a file of this name, as it is set up from the start."""
    name = os.path.basename(path)
    return name.startswith("test_") or name.endswith("_test.py")
