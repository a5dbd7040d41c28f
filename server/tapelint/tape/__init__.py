"""Autograd as data: tensors, storages with versions, views, graph nodes, what they saved, what each backward freed."""

from .backward import backward, second_order
from .graph import Freed, Leaf, Node, SavedTensor, Tensor, Write
from .moment import Lap, Moment
from .record import Refused, bump, current, invent, leaf, record
from .state import State, fresh_id
from .tape import Cut, Stored, Tape

__all__ = [
    "Cut",
    "Freed",
    "Lap",
    "Leaf",
    "Moment",
    "Node",
    "Refused",
    "SavedTensor",
    "State",
    "Stored",
    "Tape",
    "Tensor",
    "Write",
    "backward",
    "bump",
    "current",
    "fresh_id",
    "invent",
    "leaf",
    "record",
    "second_order",
]
