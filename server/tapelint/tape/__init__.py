"""Autograd as data: tensors, storages with versions, views, graph nodes, what they saved, what each backward freed."""

from .backward import backward, second_order
from .graph import Freed, Leaf, Node, SavedTensor, Tensor, Write
from .moment import Lap, Moment
from .present import current, leaf
from .record import invent, record
from .state import State, fresh_id
from .tape import Cut, Stored, Tape
from .writes import Refused, bump, write_aside

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
    "write_aside",
]
