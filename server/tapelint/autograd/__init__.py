"""Autograd as data: tensors, storages with versions, views, graph nodes, what they saved, what each backward freed."""

from .event_bus import EventBus
from .facts import Facts
from .gradients import history
from .model.cuts import Cut, CutReason, Provenance
from .model.graph import (
    BATCH,
    MANY,
    BackwardPass,
    BackwardResult,
    Extent,
    Leaf,
    Node,
    NodeVisit,
    SavedTensor,
    Tensor,
    Write,
    is_wide,
)
from .model.program_point import Iteration, ProgramPoint
from .model.recording import invent, record
from .model.requires_grad import doubt, doubt_maybe_same, give_history, set_by_program
from .model.stores import LastStore, RetainedGraphs, Stored, StoreKind
from .model.views import contents, edge_of, leaf, materialize_view, memory_contents, resolve_view
from .model.writes import TorchRaises, bump, check_inference_write, check_write, record_untracked_write
from .passes.engine import backward, recorded, second_order, unused
from .passes.node_hooks import Hook, retain
from .state import AutogradState, fresh_id

__all__ = [
    "BATCH",
    "Cut",
    "CutReason",
    "EventBus",
    "Extent",
    "RetainedGraphs",
    "BackwardPass",
    "BackwardResult",
    "Hook",
    "LastStore",
    "Iteration",
    "Leaf",
    "MANY",
    "ProgramPoint",
    "Provenance",
    "Node",
    "TorchRaises",
    "SavedTensor",
    "AutogradState",
    "Stored",
    "StoreKind",
    "Facts",
    "Tensor",
    "NodeVisit",
    "Write",
    "backward",
    "bump",
    "check_inference_write",
    "check_write",
    "contents",
    "doubt",
    "doubt_maybe_same",
    "memory_contents",
    "resolve_view",
    "edge_of",
    "fresh_id",
    "give_history",
    "gradients",
    "is_wide",
    "invent",
    "leaf",
    "record",
    "recorded",
    "retain",
    "second_order",
    "set_by_program",
    "materialize_view",
    "unused",
    "record_untracked_write",
]
