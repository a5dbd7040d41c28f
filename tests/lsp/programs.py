"""The programs the editor tests type."""

from __future__ import annotations

import shlex
from pathlib import Path

from wire import COMMAND

HEAD = "import torch\n\nx = torch.ones(3, requires_grad=True)\n"

# ``exp`` keeps its result for the backward pass, so the update on row 5 (4 in the protocol) breaks it.
BAD = HEAD + "y = x.exp()\ny += 1\ny.sum().backward()\n"
BAD_LINE = 4

# A product with a constant keeps nothing of its result.
GOOD = HEAD + "y = x * 2\ny += 1\ny.sum().backward()\n"

# The second loss's graph was freed by the first: to detach one of them is a cure that gives up a gradient.
SHARED = HEAD + "y = x.exp()\n(y * 2 + x).sum().backward()\n(y * 3 + x).sum().backward()\n"

# What BAD raises, in another folder.
TRACEBACK = """Traceback (most recent call last):
  File "/home/me/a.py", line 6, in <module>
    y.sum().backward()
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: \
[torch.FloatTensor [3]], which is output 0 of AddBackward0, is at version 1; expected version 0 instead.
"""


def program_folder(scratch: Path) -> Path:
    """A folder for PATH, with ``tapelint`` in it."""
    program = scratch / "bin" / "tapelint"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND[:-1])} "$@"\n')
    program.chmod(0o755)
    return program.parent
