"""Autograd as data: tensors, storages with versions, views, graph nodes, what they saved, what each backward freed."""

from . import gradients
from .backward_pass import backward, everything, recorded, second_order, unused
from .graph import BATCH, MANY, Extent, Freed, Gradients, Leaf, Node, SavedTensor, Tensor, Turn, Write
from .hooks import Hook, retain
from .inference import check_inference_write
from .levels import Level, alias, leave, see_outside
from .moment import Lap, Moment
from .present import contents, current, edge_of, leaf, settle
from .recording import invent, record
from .state import State, fresh_id
from .stored import Collected, Kept, Stored
from .tape import Cut, Tape, Unmarked
from .writes import Refused, bump, check_write, write_aside

__all__ = [
    "BATCH",
    "Cut",
    "Extent",
    "Collected",
    "Freed",
    "Gradients",
    "Hook",
    "Kept",
    "Lap",
    "Leaf",
    "Level",
    "MANY",
    "Moment",
    "Node",
    "Refused",
    "SavedTensor",
    "State",
    "Stored",
    "Tape",
    "Tensor",
    "Turn",
    "Unmarked",
    "Write",
    "alias",
    "backward",
    "bump",
    "check_inference_write",
    "check_write",
    "contents",
    "current",
    "edge_of",
    "everything",
    "fresh_id",
    "gradients",
    "invent",
    "leaf",
    "leave",
    "record",
    "recorded",
    "retain",
    "second_order",
    "see_outside",
    "settle",
    "unused",
    "write_aside",
]
