"""Abstract execution: runs a syntax tree over the tape, path by path, iteration by iteration."""

from . import (
    assign,
    attributes,
    branches,
    calls,
    classes,
    contexts,
    displays,
    functions,
    importing,
    loops,
    operators,
    statements,
    subscripts,
)
from .entry import execute
from .executed import is_whole
from .holes import Entry, Holes, Lost
from .imports import Imports
from .library import models
from .machine import Cancelled, Machine, Place, place_of
from .steps import Memory, Step, walked
from .told import Resolve

__all__ = [
    "Cancelled",
    "Entry",
    "Holes",
    "Imports",
    "Lost",
    "Machine",
    "Memory",
    "Place",
    "Resolve",
    "Step",
    "execute",
    "is_whole",
    "place_of",
    "walked",
]
