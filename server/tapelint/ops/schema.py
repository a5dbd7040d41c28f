"""One row of the op table: what autograd records when PyTorch runs one overload of one op.

    exp(self) saves its result for the gradient of self
    mul(self, other) saves self for other's gradient and other for self's
    add_(self, other) writes self and saves nothing

The rows are data, generated from the installed PyTorch (see ``tools/ops``), never typed from memory.

The kind of a parameter says which arguments it takes; several overloads are distinguished by it:

    tensor, tensors            a tensor; a list or tuple of tensors
    matrix                     a tensor of one or two dimensions
    3d                         a tensor of three dimensions
    operand                    a tensor or a Python number, where it makes no difference to autograd which
    number, int, float, bool   Python numbers (``number`` is any of them)
    ints                       a list of ints, a single int, or, as the only positional parameter, ``view(2, 3)``
    none, true, false, 0, 'mean'  exactly this constant: ``relu(x, inplace=True)`` has a row of its own
    str, dtype, other          ``other`` is a device, a layout, a memory format, a callable, ...
    any                        whatever: a parameter of a Python function that is not annotated

A ``?`` after the kind means that ``None`` is fine too.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from ..frozen import frozen
from .traits import Trait, traits_of

View = Literal["", "view", "multi", "maybe", "same"]


@frozen
class Param:
    """A parameter of an overload. ``required`` is false where it has a default; ``keyword`` where it is keyword-only.

    A ``variadic`` parameter (``*operands``) takes all remaining positional arguments.
    """

    name: str
    kind: str
    required: bool = True
    keyword: bool = False
    variadic: bool = False


@frozen
class Saved:
    """Something the node keeps for backward.

    ``what`` is a parameter's name, ``result`` (``result1``, ... for further outputs), or ``~`` for a private value that
    the user cannot reach (a mask, a wrapped number): freeing it makes a second backward raise, no write can spoil it.
    In a row that writes ``self``, ``result`` is ``self`` after the write.
    ``gradient_of`` names the parameters whose gradient needs it: it is saved only if one of them requires grad.
    Empty means: saved whenever the node exists.
    """

    what: str
    gradient_of: frozenset[str] = frozenset()


@frozen
class Op:
    """One overload.

    ``flows`` are the parameters a gradient can flow to (empty: the result never requires grad).
    ``writes`` are the parameters it modifies in place. ``view`` says what output 0 shares with the first tensor:
    nothing, a view, one of many views (``multi``: in-place writes on them are refused), ``maybe`` (depends on shapes or
    on whether anything changes: ``reshape``, ``contiguous``, ``to``) or the very ``same`` tensor; a row that writes
    returns what it writes.
    ``scalar`` is true where every output is certainly 0-dimensional. ``outputs`` counts the returned tensors; -1: a
    list or a nested structure; 0: nothing or no tensor.
    ``constant`` are the indices of outputs that never require grad (indices of ``max``, ...).
    ``sizes`` are rules for the sizes of what it returns (see ``shapes``): one for all, or one for each, with ``-``
    where none holds.
    ``source`` tells where the row comes from: ``derivatives``, ``schema`` (no tensor in, or nothing differentiable)
    or ``probe``.
    ``slots`` are the parameters that take positional arguments, ``names`` those of all, ``needed`` those of the ones
    that must be given; ``spreads`` is true where one takes all remaining arguments. ``traits`` say what else is
    known of the op (see ``traits.txt``).
    """

    name: str
    overload: str
    params: tuple[Param, ...]
    flows: frozenset[str]
    saves: tuple[Saved, ...] = ()
    writes: tuple[str, ...] = ()
    view: View = ""
    scalar: bool = False
    outputs: int = 1
    constant: frozenset[int] = frozenset()
    sizes: tuple[str, ...] = ()
    grad_fn: str = ""
    source: str = "derivatives"
    slots: tuple[Param, ...] = field(init=False, compare=False, repr=False)
    names: frozenset[str] = field(init=False, compare=False, repr=False)
    needed: frozenset[str] = field(init=False, compare=False, repr=False)
    spreads: bool = field(init=False, compare=False, repr=False)
    traits: frozenset[Trait] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        known = {
            "slots": tuple(param for param in self.params if not param.keyword),
            "names": frozenset(param.name for param in self.params),
            "needed": frozenset(param.name for param in self.params if param.required and not param.variadic),
            "spreads": any(param.variadic for param in self.params),
            "traits": traits_of(self.name),
        }
        for name, value in known.items():
            object.__setattr__(self, name, value)


@frozen
class Layer:
    """An ``nn`` module that PyTorch defines, as one row: its parameters, its buffers, and what its forward saves.

    ``arguments`` are the constructor's. ``params`` are the trainable tensors in the order of ``parameters()``; a name
    ending in ``?`` exists only for some constructor arguments, which follow if they are true or false (``bias?bias``:
    not with ``bias=False``), in ``??`` not by default (``weight_ih_l1??`` of an LSTM: with ``num_layers=2``,
    ``weight??+affine``: with ``affine=True``); ``*`` alone means any number, which ``op`` knows by the one name
    ``parameters``. ``buffers`` are marked in the same way (``ops.layers.is_there``).
    ``op`` describes ``forward`` in training as an op over its arguments, the params and the buffers; ``eval_op``,
    ``inplace`` (constructed with ``inplace=True``), ``unreduced`` (with ``reduction="none"``) and ``indices`` (with
    ``return_indices=True``, which returns two tensors) are there where they differ; so is ``bidirectional``, which
    holds whatever that argument is. ``output`` tells what forward returns: ``T``, ``(T,T)``, ``(T,(T,T))``, with ``N``
    for None. ``own`` are the tensors that a layer brings to its op, by the names of the op's parameters.
    """

    name: str
    arguments: tuple[str, ...]
    params: tuple[str, ...]
    buffers: tuple[str, ...]
    output: str
    op: Op
    eval_op: Op | None = None
    inplace: Op | None = None
    unreduced: Op | None = None
    indices: Op | None = None
    bidirectional: Op | None = None
    own: tuple[str, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        bare = (name.partition("?")[0] for name in (*self.params, *self.buffers))
        object.__setattr__(self, "own", (*dict.fromkeys(bare), "parameters"))
