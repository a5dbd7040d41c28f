"""tapelint reads a Python file the way PyTorch's autograd engine would run it and reports where that goes wrong.

``tapelint.analysis`` is the way in for programs, ``tapelint.cli`` for terminals, ``tapelint.lsp`` for editors.
"""

from __future__ import annotations

__version__ = "0.1.0"
__documentation__: str | None = None
"""Where ``docs/`` can be read in public: [project.urls] of pyproject.toml, where that names a Documentation."""
