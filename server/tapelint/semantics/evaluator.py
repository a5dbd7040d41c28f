"""The machine with the meaning of Python in place: what ``engine/evaluation.py`` leaves open."""

from __future__ import annotations

from ..engine.machine import Machine
from ..models.torch.registry import is_opaque
from . import (
    assign,
    attributes,
    branches,
    calls,
    classes,
    displays,
    functions,
    import_statements,
    iteration,
    loops,
    operators,
    statements,
    subscripts,
    unknown_calls,
    with_blocks,
)


class Evaluator(Machine):
    """A machine that can be run. Its methods are functions of this layer, which take the machine first."""

    call = calls.call_value
    call_unhooked = calls.call_unhooked
    call_unknown = unknown_calls.unknown_call
    call_dunder = calls.call_dunder
    iterate = iteration.items_of
    iterator = iteration.started
    items_due = iteration.items_due
    come_due = iteration.come_due
    collect = functions.collect
    combine = operators.combine
    is_opaque = staticmethod(is_opaque)
    load_attribute = attributes.load
    store_attribute = attributes.store


TRANSFER_FUNCTIONS = (
    assign,
    attributes,
    branches,
    calls,
    classes,
    with_blocks,
    displays,
    functions,
    import_statements,
    loops,
    operators,
    statements,
    subscripts,
)
"""The modules that register what statements and expressions mean; ``interpreter.MODELS`` register what calls of
libraries do.
"""
