"""What an expression can evaluate to.

    3            Const(3)
    x.exp()      TensorRef(17): which tensor it is; what is known of it lives in the State
    [a, b]       Ref(4): an object on the heap, shared by everyone who holds it
    (a, b)       Tuple: immutable, so it needs no heap
    torch.exp    Lib("torch.exp"): something outside the analysed program, known by its dotted name
    load()       Unknown: nothing is known of it, and nothing may be concluded from it

Values are immutable.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any, Literal

from ..autograd import ProgramPoint, fresh_id
from ..autograd.frozen import frozen


@frozen
class Const:
    value: Any


@frozen(eq=False)
class MissingGrad(Const):
    """The None that ``.grad`` of a non-leaf gave. It equals any other None."""

    # The id of the non-leaf, and where it was created.
    tensor: int
    created_at: ProgramPoint
    # Where ``.grad`` was read.
    read: ProgramPoint

    def __eq__(self, other: object) -> bool:
        return other.value is None if type(other) is Const or type(other) is MissingGrad else NotImplemented

    __hash__ = Const.__hash__


class Origin(Enum):
    """What is concluded about an unknown value from where it came from."""

    ANY = auto()
    # What the program calls by a name, which says nothing of what it is.
    NAME = auto()
    # A number of Python.
    NUMBER = auto()
    # An iterable of batches.
    LOADER = auto()
    # Data from a loader, or what has a method that only tensors have: it is used as a tensor.
    BATCH = auto()
    # The dtype of a tensor, by family.
    FLOAT_DTYPE = auto()
    INT_DTYPE = auto()
    BOOL_DTYPE = auto()
    OTHER_DTYPE = auto()


@frozen(eq=False)
class Unknown:
    """A value of which nothing else is known."""

    # Where it came from, in a word for traces. Items of a loop that differ in it are not taken for alike; nothing else
    # depends on it.
    note: str = ""
    # Whether it requires grad if it is a tensor: False for data, None where that is unknown too.
    requires_grad: bool | None = None
    # The id it gets the first time it is used as a tensor.
    tensor_id: int = field(default_factory=fresh_id)
    # How a plain value was computed from others (``engine.paths``).
    formula: Hashable = None
    origin: Origin = Origin.ANY

    def another(self, formula: Hashable = None) -> Unknown:
        """A value of the same origin that is not this one, such as an item of it."""
        return Unknown(self.note, self.requires_grad, formula=formula, origin=self.origin)


def something(name: str, grad: bool | None = None, formula: Hashable = None) -> Unknown:
    """Something unknown that the program calls ``name``: a name says nothing of what it is."""
    return Unknown(name, grad, formula=formula, origin=Origin.NAME)


def unknown_number() -> Unknown:
    """A number of Python, such as a size or an index."""
    return Unknown(requires_grad=False, origin=Origin.NUMBER)


@frozen
class TensorRef:
    id: int


@frozen
class HeapRef:
    id: int


@frozen
class Tuple:
    """``names`` are the field names of a named tuple, if it is one."""

    items: tuple[Value, ...]
    names: tuple[str, ...] = ()


@frozen
class External:
    name: str


@frozen
class Module:
    """A module of the workspace; ``modules/loader`` knows what it defines."""

    path: str


@frozen
class Slice:
    start: Value
    stop: Value
    step: Value


FunctionKind = Literal["", "static", "class", "property", "setter", "getter", "deleter"]
"""What a decorator of Python makes of a method."""


@frozen
class Function:
    """A function or lambda of the program. ``frame`` is the scope it was defined in; ``owner`` the class, for
    ``super()``.

    ``grad_mode`` and ``casting`` are set by decorators such as ``@torch.no_grad()``; ``kind`` is ``""``, ``static``,
    ``class`` or ``property``.
    """

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    frame: int
    defaults: tuple[Value, ...] = ()
    keyword_defaults: tuple[tuple[str, Value], ...] = ()
    owner: int | None = None
    grad_mode: bool | None = None
    inference: bool | None = None
    casting: bool | None = None
    kind: FunctionKind = ""


@frozen
class BoundMethod:
    """A function with its first argument."""

    function: Value
    receiver: Value


@frozen
class BuiltinMethod:
    """A method that is not the program's own: of a tensor, a list, an optimizer, a module."""

    receiver: Value
    name: str


@frozen
class Super:
    owner: int
    receiver: Value


@frozen
class Partial:
    function: Value
    args: tuple[Value, ...]
    kwargs: tuple[tuple[str, Value], ...]


@frozen
class GradMode:
    """A context manager or decorator that sets grad mode; ``mode`` None is unknown, ``inference`` None leaves inference
    mode as it is.
    """

    mode: bool | None
    inference: bool | None = None


@frozen
class Autocast:
    """``torch.autocast``, as a context manager or decorator."""

    enabled: bool


@frozen
class SavedTensorHooks:
    """A context manager under which nodes keep what a hook makes of the tensors they save: no write can spoil it."""


@frozen
class Range:
    start: int | None
    stop: int | None
    step: int | None


@frozen
class Zip:
    """``zip``, ``enumerate`` (a range and an iterable) and ``dict.items()``."""

    parts: tuple[Value, ...]


@frozen
class Generator:
    """A generator that has not run yet, made by a function or an expression: ``frame`` holds its arguments."""

    node: ast.AST
    frame: int
    function: Function | None = None


@frozen
class Due:
    """An item that a loop has not asked for yet: of an object of the program, what its ``__next__`` returns, or its
    ``__getitem__`` for an ``index``. A loop asks for it when the iteration begins (``iteration.come_due``).
    """

    receiver: HeapRef
    index: Const | None = None


Value = (
    Const
    | Unknown
    | TensorRef
    | HeapRef
    | Tuple
    | External
    | Module
    | Slice
    | Function
    | BoundMethod
    | BuiltinMethod
    | Super
    | Partial
    | GradMode
    | SavedTensorHooks
    | Autocast
    | Range
    | Zip
    | Generator
    | Due
)

NONE = Const(None)
TRUE, FALSE = Const(True), Const(False)


def as_key(value: Value) -> Any:
    """What a value is known by as the key of a dict; None where that is not known."""
    if isinstance(value, Const):
        try:
            hash(value.value)
        except TypeError:
            return None
        return value.value if value.value is not None else value
    identity = value.receiver if isinstance(value, (BuiltinMethod, BoundMethod)) else value
    return value if isinstance(identity, (TensorRef, HeapRef)) else None


def of_key(key: Any) -> Value:
    """The value that is known by a key."""
    return key if isinstance(key, (Const, TensorRef, HeapRef, BuiltinMethod, BoundMethod, Unknown)) else Const(key)


@dataclass(slots=True)
class Frame:
    """A scope. ``parent`` is the enclosing one for look-up; ``shared`` maps names declared global or nonlocal to
    their frame.
    """

    variables: dict[str, Value]
    parent: int
    module: int
    function: Function | None = None
    shared: dict[str, int] = field(default_factory=dict)

    def copy(self) -> Frame:
        return Frame(dict(self.variables), self.parent, self.module, self.function, self.shared)


SequenceKind = Literal["list", "set", "frozenset", "deque", "Queue", "Counter", "ModuleList", "Sequential"]
"""The type of a container without keys; a ``ParameterList`` is a ``ModuleList`` of tensors."""
MappingKind = Literal["dict", "ModuleDict", "_parameters", "_buffers", "_modules"]
"""The type of a container with keys, or the attribute of a module that is one."""


@dataclass(slots=True)
class Sequence:
    """A list, set, deque, ``ModuleList``, ``Sequential`` or ``ParameterList``, by ``kind``. ``is_partial``: there may
    be more items. ``names`` are those of the layers of a ``Sequential`` that have other names than their numbers.
    """

    kind: SequenceKind
    items: list[Value]
    is_partial: bool = False
    limit: int | None = None
    training: bool = True
    names: tuple[str, ...] = ()

    def copy(self) -> Sequence:
        return Sequence(self.kind, list(self.items), self.is_partial, self.limit, self.training, self.names)

    def named(self) -> list[tuple[str, Value]]:
        """Each layer with its name."""
        known = self.names if len(self.names) == len(self.items) else map(str, range(len(self.items)))
        return list(zip(known, self.items))


@dataclass(slots=True)
class Mapping:
    """A dict, ``ModuleDict`` or ``ParameterDict``. ``is_partial``: there may be more keys. Keys are plain Python
    values, or values that are known by their identity. What is written into the dicts of a module, ``owner``, is
    written there.
    """

    items: dict[Any, Value]
    is_partial: bool = False
    kind: MappingKind = "dict"
    default: Value | None = None
    owner: HeapRef | None = None

    def copy(self) -> Mapping:
        return Mapping(dict(self.items), self.is_partial, self.kind, self.default, self.owner)


@dataclass(slots=True)
class Class:
    """A class of the program. ``bases`` are Refs to classes or Libs, ``scope`` is the frame it was defined in,
    ``order`` where attributes are looked for, once that is known.
    """

    name: str
    node: ast.ClassDef
    bases: tuple[Value, ...]
    attributes: dict[str, Value]
    dataclass: bool = False
    scope: int = 0
    order: list[Value] | None = field(default=None, compare=False, repr=False)

    def copy(self) -> Class:
        return Class(self.name, self.node, self.bases, dict(self.attributes), self.dataclass, self.scope, self.order)


@dataclass(slots=True)
class Instance:
    """An object. ``kind`` is a Ref to its class, or the Lib it was made by. ``is_partial``: attributes we know nothing
    of may exist.
    """

    kind: Value
    attributes: dict[str, Value]
    is_partial: bool = False

    def copy(self) -> Instance:
        return Instance(self.kind, dict(self.attributes), self.is_partial)


@dataclass(slots=True)
class Optimizer:
    """``params`` are the tensors it updates; ``is_partial`` where there may be others; ``single`` if it calls a closure
    just once; ``stateful`` if the first step makes a state for a tensor, which later ones write; ``began`` says for
    which tensors that was done, and when, if it was in inference mode.
    """

    name: str
    params: list[int]
    is_partial: bool = False
    fused: bool = False
    single: bool = False
    stateful: bool = False
    began: dict[int, ProgramPoint | None] = field(default_factory=dict, compare=False)

    @property
    def searches(self) -> bool:
        """Whether a step calls its closure over and over, with an update after each call."""
        return self.name == "LBFGS"

    def is_like(self, other: Optimizer) -> bool:
        """Whether it does the same but for the order of its parameters, whatever it is called."""
        if self.searches is not other.searches:
            return False
        mine, yours = (replace(each, name="", params=sorted(each.params)) for each in (self, other))
        return mine == yours

    def copy(self) -> Optimizer:
        return replace(self, params=list(self.params), began=dict(self.began))


@dataclass(frozen=True, slots=True)
class Factory:
    """``field(default_factory=...)``: ``function`` makes a fresh value for every instance."""

    function: Value


HeapObject = Frame | Sequence | Mapping | Class | Instance | Optimizer
"""What ``State.heap`` holds: the mutable objects of the program."""
