"""Options of PyTorch's functions that a container of unknown content may give.

torch.tensor(0).to(**setup)       perhaps floats
torch.zeros(3, **options)         perhaps requires grad
loss.backward(*args, **kwargs)    perhaps keeps the graph
"""

from __future__ import annotations

from functools import lru_cache

from ... import ops
from ...domain.values import BuiltinMethod, External, Value, something
from .switches import POSITIONS

DECIDING = ("dtype", "requires_grad")
"""Options of ops that decide whether a gradient can flow."""
OTHERS = {
    **dict.fromkeys(("torch.tensor", "torch.asarray"), DECIDING),
    **dict.fromkeys(("torch.as_tensor", "torch.Tensor.type"), ("dtype",)),
    **dict.fromkeys(("torch.nn.Parameter", "torch.nn.parameter.Parameter"), ("requires_grad",)),
    "torch.Tensor.backward": ("gradient", "retain_graph", "create_graph"),
    "torch.autograd.backward": ("grad_tensors", "retain_graph", "create_graph"),
    "torch.autograd.grad": ("grad_outputs", "retain_graph", "create_graph", "allow_unused"),
}
"""Those of functions that are no ops."""
CONVERSIONS = frozenset(("torch.Tensor.to", "torch.Tensor.type"))
"""What takes a dtype by position."""


def fill_open(function: Value, kwargs: dict[str, Value], is_named: bool) -> None:
    """Add what a call may give besides ``kwargs``, as unknown. It spreads a container of unknown content: a mapping
    unless its keywords are named, otherwise a sequence.
    """
    name = _dotted(function)
    for option in _taken(name) if not is_named else _by_position(name):
        kwargs.setdefault(option, something(option))


def _dotted(function: Value) -> str:
    if isinstance(function, BuiltinMethod):
        return f"torch.Tensor.{function.name}"
    return function.name if isinstance(function, External) else ""


def _by_position(name: str) -> tuple[str, ...]:
    switches = POSITIONS.get(name.removeprefix("torch.Tensor."), ()) if name in OTHERS else ()
    return ("dtype",) if name in CONVERSIONS else tuple(each for each in switches if each is not None)


@lru_cache(1024)
def _taken(name: str) -> tuple[str, ...]:
    """The options that a function takes."""
    if name in OTHERS:
        return OTHERS[name]
    op = ops.op_name(name)
    params = {param.name for row in ops.candidates(op) for param in row.params} if op is not None else set()
    return tuple(option for option in DECIDING if option in params)
