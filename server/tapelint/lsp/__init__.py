"""The language server: tapelint inside an editor.

The parts, in the order a message meets them: ``transport`` (bytes and messages), ``documents`` (texts), ``session``
(when to analyse), ``worker`` (on which thread), ``analysis_result`` (what was found), and in ``handlers`` one file for
each request of the protocol. No other part of tapelint knows the protocol.
"""

from __future__ import annotations

from .transport import parent_process  # isort: skip  # first of all: it records which process started this one
from . import light_types  # isort: skip  # before any module that needs the protocol's types
