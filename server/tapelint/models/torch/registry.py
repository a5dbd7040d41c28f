"""Models of what is not the program's own: by dotted name, and by receiver and method name.

A model is a function of (machine, state, call); it returns the call's value.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import SupportsIndex, TypeVar, overload

from ... import ops
from ...domain.completion import ProgramRaised
from ...domain.state import State
from ...domain.values import (
    NONE,
    BuiltinMethod,
    Const,
    External,
    Function,
    HeapRef,
    Instance,
    Partial,
    TensorRef,
    Unknown,
    Value,
)
from ...engine.machine import Machine


class ArgumentLeftOut(ProgramRaised):
    """A model needs a positional argument that a call does not have: Python raises a TypeError, unless it is there by
    its name.
    """


class Arguments(list[Value]):
    """The positional arguments of a call. Raises ArgumentLeftOut where there is none at a place."""

    @overload
    def __getitem__(self, index: SupportsIndex) -> Value: ...
    @overload
    def __getitem__(self, index: slice) -> list[Value]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Value | list[Value]:
        try:
            return list.__getitem__(self, index)
        except IndexError:
            raise ArgumentLeftOut("TypeError") from None


class Call:
    """The arguments of one call. ``name`` is the function's dotted name, or the method's name."""

    __slots__ = ("name", "args", "kwargs", "node", "key")

    def __init__(
        self, name: str, args: Iterable[Value], kwargs: dict[str, Value], node: ast.AST, key: object = None
    ) -> None:
        self.name, self.kwargs, self.node, self.key = name, kwargs, node, key
        self.args = Arguments(args)

    def get(self, index: int, name: str, default: Value = NONE) -> Value:
        """The argument at ``index`` or called ``name``."""
        if index < len(self.args):
            return self.args[index]
        return self.kwargs.get(name, default)

    def flag(self, index: int, name: str, default: bool = False) -> bool | None:
        """A boolean argument; None where it is not known."""
        value = self.get(index, name, Const(default))
        return bool(value.value) if isinstance(value, Const) else None


Model = Callable[[Machine, State, Call], Value]
R = TypeVar("R", TensorRef, HeapRef)
MethodModel = Callable[[Machine, State, R, Call], Value]
"""A model of a method of tensors, or of objects on the heap."""

CUSTOM = "torch.library.custom_op()"
"""The decorator of an op of the program's own: autograd sees the op, and what is registered for it, not its body."""

DECORATORS: set[str] = set()
"""What makes something else of a function that it decorates, by dotted name; with ``()`` where it was called before."""

AttributeModel = Callable[[Machine, State, HeapRef], Value]

FUNCTIONS: dict[str, Model] = {}
ATTRIBUTES: dict[str, AttributeModel] = {}
"""What is computed when an attribute of a library's object is asked for, by the dotted name of its class."""


TENSOR_METHODS: dict[str, MethodModel[TensorRef]] = {}
MODULE_METHODS: dict[str, MethodModel[HeapRef]] = {}
OPTIMIZER_METHODS: dict[str, MethodModel[HeapRef]] = {}
SEQUENCE_METHODS: dict[str, MethodModel[HeapRef]] = {}
SET_METHODS: dict[str, MethodModel[HeapRef]] = {}
MAPPING_METHODS: dict[str, MethodModel[HeapRef]] = {}


OVERLAYS: Mapping[str, str] = {
    **dict.fromkeys(("addict", "box", "easydict", "ml_collections", "munch", "omegaconf"), "python.config_objects"),
    **dict.fromkeys(("argparse", "configargparse", "jsonargparse", "simple_parsing", "types"), "python.option_parsers"),
    "copy": "python.copying",
    "itertools": "python.iterators",
    "einops": "torch.einops",
    "functorch": "torch.func.transforms",
    "torch.distributions": "torch.distributions",
    "torch.func": "torch.func.transforms",
    "torch.func.functional_call": "torch.nn.functional_call",
    "torch.nn.utils.stateless": "torch.nn.functional_call",
    "torch.optim.swa_utils": "torch.nn.weight_averages",
    "torch.utils.checkpoint": "torch.autograd.checkpoint",
    "torch.vmap": "torch.func.transforms",
}
"""The module of ``models/`` by the package that it models. Such a module registers models of functions by their dotted
names, and nothing else: what an analysis knows does not depend on what was analysed before.
"""


def load_models(name: str) -> None:
    """Load the models of the packages that something with this dotted name is in."""
    home = ""
    for part in name.split("."):
        home = f"{home}.{part}" if home else part
        if home in OVERLAYS:
            import_module(f"..{OVERLAYS[home]}", __package__)


@lru_cache(4096)
def model_of(name: str) -> Model | None:
    """The model of the function with a dotted name. It is asked for here, and nowhere looked up in the table, so that
    models of libraries are loaded only for programs that use them.
    """
    load_models(name)
    return FUNCTIONS.get(name)


def function(*names: str) -> Callable[[Model], Model]:
    """Register a model of functions by their dotted names."""

    def register(model: Model) -> Model:
        for name in names:
            FUNCTIONS[name] = model
        return model

    return register


def answers(make: Callable[[], Value], *names: str) -> None:
    """Register functions of which only that is known that they return such a value, whatever they are given."""
    for name in names:
        FUNCTIONS[name] = lambda machine, state, call: make()


def decorator(*names: str) -> Callable[[Model], Model]:
    """Register a model of functions that return a decorator: what it makes of the function that it is given, which
    comes first; what the decorator was called with comes after it. Without such a call the function is decorated with
    nothing.
    """

    def register(model: Model) -> Model:
        def decorated(machine: Machine, state: State, call: Call) -> Value:
            target = call.args[-1]
            return model(machine, state, Call(call.name, [target, *call.args[:-1]], call.kwargs, call.node, call.key))

        for name in names:

            def make(machine: Machine, state: State, call: Call, applied: str = f"{name}()") -> Value:
                if call.args and isinstance(call.args[-1], Function):
                    return decorated(machine, state, call)
                return Partial(External(applied), tuple(call.args), tuple(call.kwargs.items()))

            FUNCTIONS[name], FUNCTIONS[f"{name}()"] = make, decorated
            DECORATORS.update((name, f"{name}()"))
        return model

    return register


def method(table: dict[str, MethodModel[R]], *names: str) -> Callable[[MethodModel[R]], MethodModel[R]]:
    """Register a model of methods in one of the tables above."""

    def register(model: MethodModel[R]) -> MethodModel[R]:
        for name in names:
            table[name] = model
        return model

    return register


def is_opaque(state: State, value: Value) -> bool:
    """Whether a value is an attribute that may be anything: of something unknown, or one that an object of the program
    has from an unknown class. What is known to be a method is not.

    unet(x).sample      `unet` is of a library: `sample` may be anything
    loss.backward       a method that tensors have: no data
    """
    if not isinstance(value, BuiltinMethod):
        return False
    owner = value.receiver
    if isinstance(owner, TensorRef):
        return value.name not in TENSOR_METHODS and not ops.candidates(value.name)
    if isinstance(owner, HeapRef):
        return isinstance(state.heap[owner.id], Instance) and value.name not in MODULE_METHODS
    return isinstance(owner, (Unknown, BuiltinMethod))
