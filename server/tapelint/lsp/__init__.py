"""The language server: tapelint inside an editor.

The parts, in the order a message meets them: ``transport`` (bytes and messages), ``documents`` (texts), ``session``
(when to analyse), ``worker`` (on which thread), ``analysis_result`` (what was found), and in ``handlers`` a file for
what the requests of the protocol are about. No other part of tapelint knows the protocol.
"""

from __future__ import annotations

from .transport import parent_process  # isort: skip  # first of all: it records which process started this one

from functools import partial
from importlib import import_module

import attrs


def _load_light_types() -> None:
    """Import the types of the protocol now, before any module that needs them, without a ``repr`` for each of them; the
    classes of other modules keep theirs.

    ``lsprotocol.types`` makes 550 classes when it is imported, and attrs writes and compiles the methods of each. That
    is half of what a server needs until it answers ``initialize``, and a third of it is for ``repr``, which no one
    reads: what is logged of a message is its JSON. Where the types are loaded already, nothing happens.
    """
    names, define = vars(attrs), attrs.define
    names["define"] = partial(define, repr=False)
    try:
        import_module("lsprotocol.types")
    finally:
        names["define"] = define


_load_light_types()
