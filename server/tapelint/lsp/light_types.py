"""Loads the protocol's types, without a ``repr`` for each of them.

``lsprotocol.types`` makes 550 classes when it is imported, and attrs writes and compiles the methods of each. That is
half of what a server needs until it answers ``initialize``, and a third of it is for ``repr``, which no one reads: what
is logged of a message is its JSON. Where the types are loaded already, nothing happens.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module

import attrs


def load() -> None:
    """Import the types now; the classes of other modules keep their ``repr``."""
    names, define = vars(attrs), attrs.define
    names["define"] = partial(define, repr=False)
    try:
        import_module("lsprotocol.types")
    finally:
        names["define"] = define


load()
