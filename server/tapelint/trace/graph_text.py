"""Tensors and graphs in one line, in PyTorch's words.

y: ExpBackward0 #2, version 1
#2 ExpBackward0 <- w; saves result (version 0)
"""

from __future__ import annotations

from collections.abc import Callable

from ..autograd import Facts, Leaf, Node, Tensor, resolve_view
from ..domain.induction import raw_value
from ..domain.state import State
from ..domain.values import (
    BoundMethod,
    BuiltinMethod,
    Class,
    Const,
    External,
    Function,
    HeapRef,
    Instance,
    Mapping,
    Module,
    Optimizer,
    Origin,
    Sequence,
    TensorRef,
    Tuple,
    Unknown,
    Value,
)
from ..headline import QUOTED, shortened

ORIGINS = {
    Origin.NAME: "an argument, or a name that this code does not define",
    Origin.BATCH: "what a loader or a batch holds",
    Origin.LOADER: "an iterable of batches",
    Origin.NUMBER: "a number, and it is not known which",
}
"""Why a value is unknown, by `Unknown.origin`."""
NOTES = {
    "call": "returned by code that is not known",
    "recursion": "the call was not executed",
    "conditional": "one of two values",
    "comparison": "a comparison with a number that was counted elsewhere",
    "result": "the joined paths return different values",
    "item": "an item of an unknown object",
}
"""The same by `Unknown.note`; other notes are printed as they are."""


class Numbering:
    """The numbers of nodes in one trace, in the order in which they are first met."""

    def __init__(self) -> None:
        self._numbers: dict[Node, int] = {}

    def number(self, node: Node) -> int:
        return self._numbers.setdefault(node, len(self._numbers) + 1)


class Describer:
    """Puts values of a path into words."""

    def __init__(self, facts: Callable[[], Facts]) -> None:
        self._facts = facts
        self.numbering = Numbering()
        # Why certain unknown values are unknown, by their id.
        self.notes: dict[int, str] = {}
        # What the program calls unknown values, by their id.
        self.called: dict[int, str] = {}

    def value(self, state: State, value: Value) -> str:
        """Any value, in a few words."""
        match value:
            case TensorRef(id=key):
                return self.tensor(state, resolve_view(state, key))
            case Unknown():
                return self.unknown(value)
            case Const():  # to look at an induction value must leave no record
                return constant(raw_value(value))
            case Tuple(items=items):
                return shortened(f"({', '.join(self.value(state, item) for item in items)})", 2 * QUOTED)
            case External(name=name):
                return name.removeprefix("builtins.")
            case Function() | BoundMethod() | BuiltinMethod():
                return "a function"
            case Module(path=path):
                return f"the module {path}"
            case HeapRef(id=key):
                return self.object(state, state.heap.get(key))
        return type(value).__name__.lower()

    def object(self, state: State, thing: object) -> str:
        """A mutable object, in a few words."""
        match thing:
            case Sequence(items=items, kind=kind, is_partial=is_partial):
                return f"{kind} of {len(items)}{' or more' if is_partial else ''}"
            case Mapping(items=items, kind=kind, is_partial=is_partial):
                return f"{kind} of {len(items)}{' or more' if is_partial else ''}"
            case Optimizer(name=name, params=params, is_partial=is_partial):
                return f"{name} of {len(params)}{' or more' if is_partial else ''} tensors"
            case Class(name=name):
                return f"class {name}"
            case Instance(kind=External(name=name), is_partial=is_partial):
                return f"{name} object{', otherwise unknown' if is_partial else ''}"
            case Instance(kind=HeapRef(id=key)) if isinstance(owner := state.heap.get(key), Class):
                return f"{owner.name} object"
        return "an object"

    def unknown(self, value: Unknown) -> str:
        """Why a value is unknown."""
        known = self.notes.get(value.tensor_id) or ORIGINS.get(value.origin)
        why = known or NOTES.get(value.note, value.note)
        data = " data" if value.requires_grad is False else ""
        return f"unknown{data}: {why or 'computed from what is unknown'}"

    def tensor(self, state: State, tensor: Tensor) -> str:
        """What autograd knows of a tensor on a path."""
        parts = [self._history(state, tensor)]
        if tensor.base is not None:
            parts.append(f"view of {self.name(tensor.base)}")
        if tensor.inference:
            parts.append("inference tensor")
        parts.append(f"version {state.version(tensor.version_counter)}")
        return ", ".join(parts)

    def _history(self, state: State, tensor: Tensor) -> str:
        node = tensor.grad_fn
        if node is not None:
            text = self.node(node)
            if node.saves_anything and node in state.freed:
                text += " (freed)"
            if tensor.assumption is not None or node.assumption is not None:
                text += f", assumed: `{tensor.assumption or node.assumption}` keeps a graph"
            return text if node.certain else f"{text}, if it requires grad, which is unknown"
        if tensor.requires_grad is None:
            origin = "" if tensor.assumption is None else f" (from `{tensor.assumption}`)"
            return f"tensor{origin}, whether it requires grad is unknown"
        grad = ", has .grad" if tensor.id in state.grads else ""
        return f"leaf, requires grad{grad}" if tensor.requires_grad else "no graph"

    def node(self, node: Node) -> str:
        """``ExpBackward0 #2``."""
        return f"{grad_fn_name(node)} #{self.numbering.number(node)}"

    def edge(self, edge: Node | Leaf) -> str:
        return self.node(edge) if isinstance(edge, Node) else self.name(edge.tensor)

    def name(self, tensor: int) -> str:
        """What the program calls a tensor first; a leaf that it has not named is "a leaf"."""
        return self._facts().origins.names.get(tensor) or self.called.get(tensor) or "a leaf"

    def built(self, node: Node) -> str:
        """A node with its inputs and what it saved."""
        text = self.node(node)
        if node.inputs:
            text += f" <- {', '.join(self.edge(edge) for edge in next_functions(node))}"
        saved = [f"{saved.role} (version {saved.version})" for saved in node.saved]
        if saved:
            text += f"; saves {', '.join(saved)}"
        elif not node.saves_anything:
            text += "; saves nothing"
        if node.assumption is not None:
            text += f"; assumed for `{node.assumption}`"
        return text


def is_partly_known(state: State, value: Value) -> bool:
    """Whether a value is an object of a library of which not everything is known, such as an inferred network."""
    thing = state.heap.get(value.id) if isinstance(value, HeapRef) else None
    return isinstance(thing, (Instance, Optimizer)) and thing.is_partial


def grad_fn_name(node: Node) -> str:
    """The class of the node in PyTorch, where that is known; else the op, or the unknown callable it stands for."""
    if node.assumption is not None:
        return f"<{node.assumption}>"
    return node.grad_fn.rpartition("::")[2] or node.op.rpartition("::")[2]


def next_functions(node: Node) -> tuple[Node | Leaf, ...]:
    """The inputs in the order of PyTorch's ``next_functions``, without those that need no gradient."""
    return tuple(edge for _, edge in node.named_inputs) or node.inputs


def constant(value: object) -> str:
    """A constant as Python writes it; of an integer with too many digits only what it is."""
    try:
        return shortened(repr(value))
    except ValueError:
        return f"a large {type(value).__name__}"
