"""What an ``autograd.Function`` of the program did that PyTorch refuses, or does not look at."""

from __future__ import annotations

import ast
from typing import Literal

from ...frozen import frozen
from ..model.graph import Node, SavedTensor, Write
from ..model.program_point import ProgramPoint
from .graph_walks import Event


@frozen(eq=False, kw_only=True)
class FunctionEvent(Event):
    """Something that an ``autograd.Function`` of the program did."""

    # Its name.
    function: str


@frozen(eq=False, kw_only=True)
class DirtyNotReturned(FunctionEvent):
    """forward marked an input dirty that it does not return."""

    tensor: int
    # Where it marks the input.
    place: ast.AST


@frozen(eq=False, kw_only=True)
class UnmarkedWriteUsed(FunctionEvent):
    """An input that forward wrote in place, without marking it dirty, is used later with the history it had before."""

    tensor: int
    # forward's name for the input.
    argument: str
    write: Write
    # When the Function ran.
    applied: ProgramPoint


@frozen(eq=False, kw_only=True)
class SavedThenWritten(FunctionEvent):
    """forward saved an input and then wrote it: the version is taken when forward has returned, so autograd does not
    notice.
    """

    tensor: int
    # forward's name for the input.
    argument: str
    write: Write
    # Where it is saved.
    place: ast.Call


@frozen(eq=False, kw_only=True)
class TensorKeptOnContext(FunctionEvent):
    """forward kept an input or an output as an attribute of its context."""

    tensor: int
    attribute: str
    # Which of the two, as the message says it.
    role: Literal["input", "output"]
    # The assignment.
    place: ast.Assign


@frozen(eq=False, kw_only=True)
class KeptTensorAltered(FunctionEvent):
    """backward used a tensor kept as an attribute of the context, which was written since forward."""

    tensor: int
    attribute: str
    # The assignment in forward.
    place: ast.Assign
    write: Write


@frozen(eq=False, kw_only=True)
class SavedWrittenInBackward(FunctionEvent):
    """backward wrote a tensor that forward had saved."""

    saved: SavedTensor
    write: Write
    node: Node


@frozen(eq=False, kw_only=True)
class GradientsMiscounted(FunctionEvent):
    """backward returned another number of gradients than forward had arguments."""

    expected: int
    got: int
    # The return.
    place: ast.AST
    definition: ast.AST
    # The first argument left out that needs a gradient, if any does.
    needed: str | None


@frozen(eq=False, kw_only=True)
class GradientForNothing(FunctionEvent):
    """backward returned a gradient for an argument that is no tensor."""

    # The position of the argument, and its name.
    index: int
    argument: str
    place: ast.AST


@frozen(eq=False, kw_only=True)
class OutputsMiscounted(FunctionEvent):
    """backward takes another number of gradients than forward has outputs."""

    outputs: int
    # How many gradients backward takes.
    accepted: int
    definition: ast.FunctionDef


@frozen(eq=False, kw_only=True)
class PlainValueSaved(FunctionEvent):
    """forward gave ``save_for_backward`` something that is no tensor."""

    # The call, and the position and Python's name for the type of the first such argument.
    place: ast.Call
    index: int
    type_name: str
    # Whether that is a list or a tuple of tensors.
    holds_tensors: bool


@frozen(eq=False, kw_only=True)
class UnsetContextRead(FunctionEvent):
    """A method read an attribute of the context that no method of the Function sets."""

    attribute: str
    # The read.
    place: ast.AST
    # The method that should have set it.
    preparing: ast.AST


@frozen(eq=False, kw_only=True)
class SavedMiscounted(FunctionEvent):
    """backward took another number of tensors from ``saved_tensors`` than forward has saved."""

    saved: int
    wanted: int
    # Where it took them.
    place: ast.AST
    # The calls that saved, each of which replaced what the one before had saved; none where that is not known.
    saving: tuple[ast.Call, ...]


@frozen(eq=False, kw_only=True)
class ComputedAskedForGrad(FunctionEvent):
    """forward decides by ``requires_grad`` of what it computed whether it prepares backward: forward runs without grad,
    so this is False.
    """

    # The read.
    place: ast.Attribute
    # Where the tensor was computed, or may have been copied.
    computed: ast.AST

    @property
    def raises(self) -> bool:
        return False


@frozen(eq=False, kw_only=True)
class OnlyIgnoredOutputs(FunctionEvent):
    """A pass reached a Function only through outputs whose gradients its backward never looks at."""

    # The first of them.
    output: int
    # The parameter of backward that is its gradient.
    parameter: str
    # backward.
    definition: ast.FunctionDef
