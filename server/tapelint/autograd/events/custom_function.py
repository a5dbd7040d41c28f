"""What an ``autograd.Function`` of the program did that PyTorch refuses, or does not look at."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ..model.graph import Node, SavedTensor, Write
from ..model.program_point import ProgramPoint
from .graph_walks import Event


@dataclass(frozen=True, slots=True)
class FunctionEvent(Event):
    """Something an ``autograd.Function`` called ``function`` did."""

    function: str


@dataclass(frozen=True, slots=True)
class DirtyNotReturned(FunctionEvent):
    """forward marked an input dirty that it does not return. ``place`` is where it does."""

    tensor: int
    place: ast.AST


@dataclass(frozen=True, slots=True)
class UnmarkedWriteUsed(FunctionEvent):
    """An input that forward wrote in place, without marking it dirty, is used later with the history it had before."""

    tensor: int
    argument: str
    write: Write
    applied: ProgramPoint


@dataclass(frozen=True, slots=True)
class SavedThenWritten(FunctionEvent):
    """forward saved an input and then wrote it: the version is taken when forward has returned, so autograd does not
    notice. ``place`` is where it is saved.
    """

    tensor: int
    argument: str
    write: Write
    place: ast.Call


@dataclass(frozen=True, slots=True)
class TensorKeptOnContext(FunctionEvent):
    """forward kept an input or an output as an attribute of its context. ``place`` is the assignment."""

    tensor: int
    attribute: str
    role: str
    place: ast.Assign


@dataclass(frozen=True, slots=True)
class KeptTensorAltered(FunctionEvent):
    """backward used a tensor kept as an attribute of the context, which was written since forward."""

    tensor: int
    attribute: str
    place: ast.Assign
    write: Write


@dataclass(frozen=True, slots=True)
class SavedWrittenInBackward(FunctionEvent):
    """backward wrote a tensor that forward had saved."""

    saved: SavedTensor
    write: Write
    node: Node


@dataclass(frozen=True, slots=True)
class GradientsMiscounted(FunctionEvent):
    """backward returned another number of gradients than forward had arguments. ``place`` is the return.

    ``needed`` names the first argument left out that needs a gradient, if any does.
    """

    expected: int
    got: int
    place: ast.AST
    definition: ast.AST
    needed: str | None


@dataclass(frozen=True, slots=True)
class GradientForNothing(FunctionEvent):
    """backward returned a gradient for ``argument``, which is no tensor."""

    index: int
    argument: str
    place: ast.AST


@dataclass(frozen=True, slots=True)
class OutputsMiscounted(FunctionEvent):
    """backward takes another number of gradients than forward has outputs."""

    outputs: int
    accepted: int
    definition: ast.FunctionDef


@dataclass(frozen=True, slots=True)
class OnlyIgnoredOutputs(FunctionEvent):
    """A pass came to a Function only through outputs whose gradients its backward never looks at.

    ``output`` is the first of them, ``parameter`` what its gradient is called.
    """

    output: int
    parameter: str
    definition: ast.FunctionDef
