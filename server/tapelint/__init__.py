"""tapelint reads a Python file the way PyTorch's autograd engine would run it and reports where that goes wrong.

``tapelint.analysis`` is the way in for programs, ``tapelint.cli`` for terminals, ``tapelint.lsp`` for editors.
"""

from __future__ import annotations

__version__ = "0.1.0"
