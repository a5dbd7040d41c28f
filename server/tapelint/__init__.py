"""tapelint reads a Python file the way PyTorch's autograd engine would run it and reports where that goes wrong.

``tapelint.analysis`` is the way in for programs, ``tapelint.cli`` for terminals, ``tapelint.lsp`` for editors.
"""

# Nothing is imported here, not even __future__: it could come from the folder that is analysed (see __main__.py).
try:
    from ._version import __version__ as __version__
except ImportError:  # a checkout that was never installed
    __version__ = "0.0.0"

__url__: str = ""
"""Where the project's repository is in public, as ``https://HOST/OWNER/tapelint``; empty as long as it is nowhere. All
other addresses are made of this one: the package's, the extension's, those in SARIF and of the rules.
"""
__documentation__: str | None = f"{__url__}/blob/HEAD/docs" if __url__ else None
"""Where ``docs/`` can be read in public."""
