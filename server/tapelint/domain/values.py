"""What an expression can evaluate to.

    3            Const(3)
    x.exp()      TensorRef(17): which tensor it is; what is known of it lives in the State
    [a, b]       HeapRef(4): an object on the heap, shared by all that refer to it
    (a, b)       Tuple: immutable, so it needs no heap
    torch.exp    External("torch.exp"): something outside the analysed program, known by its dotted name
    load()       Unknown: nothing is known of it, and nothing may be concluded from it

Values are immutable.

The defaults of a function's parameters.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any, Literal

from ..autograd import ProgramPoint, fresh_id
from ..autograd.events.broken_graph import NoGradient
from ..autograd.state import Modes
from ..frozen import frozen


@frozen
class Const:
    """A value of Python that is known exactly."""

    value: Any


@frozen(eq=False)
class MissingGrad(Const):
    """The None that ``.grad`` of a tensor gave. It equals any other None."""

    # The id of the tensor, and where it was created.
    tensor: int
    created_at: ProgramPoint
    # Where ``.grad`` was read.
    read: ProgramPoint
    why: NoGradient = NoGradient.COMPUTED

    def __eq__(self, other: object) -> bool:
        return other.value is None if type(other) is Const or type(other) is MissingGrad else NotImplemented

    def __hash__(self) -> int:
        return Const.__hash__(self)


@frozen(eq=False)
class UnwrittenResult(Const):
    """The None that a method without code returns: derived classes write it. It equals any other None."""

    def __eq__(self, other: object) -> bool:
        return other.value is None if isinstance(other, Const) else NotImplemented

    def __hash__(self) -> int:
        return Const.__hash__(self)


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
    # The device of a tensor, and that which is ``cpu``.
    DEVICE = auto()
    CPU = auto()
    # One of several known items, which stands for all that a loop is not run for.
    ITEM = auto()
    # An object of a library that shows or stores numbers (``engine.open_objects``): a log, a progress bar.
    DISPLAY = auto()


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

    def computed_by(self, formula: Hashable) -> Unknown:
        """The same value, and how it was computed."""
        return Unknown(self.note, self.requires_grad, self.tensor_id, formula, self.origin)


@frozen(eq=False)
class Spread(Unknown):
    """One of the values that ``*`` has spread, of how many is not known."""


def is_counted(items: Iterable[Value]) -> bool:
    """Whether there are as many items as that: none stands for any number of them."""
    return not any(isinstance(each, Spread) for each in items)


def something(name: str, grad: bool | None = None, formula: Hashable = None) -> Unknown:
    """Something unknown that the program calls ``name``: a name says nothing of what it is."""
    return Unknown(name, grad, formula=formula, origin=Origin.NAME)


def unknown_number() -> Unknown:
    """A number of Python, such as a size or an index."""
    return Unknown(requires_grad=False, origin=Origin.NUMBER)


@frozen
class TensorRef:
    """A tensor: what is known of it is in ``State.tensors``."""

    id: int


@frozen
class HeapRef:
    """A mutable object of the program: it is in ``State.heap``."""

    id: int


@frozen
class Tuple:
    """A tuple or named tuple."""

    items: tuple[Value, ...]
    # The field names of a named tuple.
    names: tuple[str, ...] = ()
    # Whether the program spells out its items, or it has the sizes of a tensor: so many there are for certain.
    is_spelled: bool = field(default=False, compare=False)


@frozen
class External:
    """What a library defines, by its dotted name."""

    name: str


@frozen
class Module:
    """A module of the workspace; ``modules/loader.py`` knows what it defines."""

    path: str


@frozen
class Slice:
    """A slice."""

    start: Value
    stop: Value
    step: Value


FunctionKind = Literal["", "static", "class", "property", "cached", "setter", "getter", "deleter"]
"""What a decorator of Python makes of a method."""


@frozen
class Function:
    """A function or lambda of the program."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    # The heap id of the scope that it was defined in.
    frame: int
    defaults: tuple[Value, ...] = ()
    keyword_defaults: tuple[tuple[str, Value], ...] = ()
    # The heap id of the class that it was defined in, for ``super()``.
    owner: int | None = None
    # What decorators such as ``@torch.no_grad()`` and ``@torch.autocast("cuda")`` set while it runs.
    grad_mode: bool | None = None
    inference: bool | None = None
    casting: bool | None = None
    kind: FunctionKind = ""
    # A decorator of unknown code, as it is written: it may make anything of the function.
    decorator: str = ""
    # What decorators of the program have made of it, where it is called as nobody does.
    wrapper: Function | None = None


@frozen
class BoundMethod:
    """A function with its first argument."""

    function: Value
    receiver: Value


@frozen
class BuiltinMethod:
    """A method that a library defines: of a tensor, a list, an optimizer, a module."""

    receiver: Value
    name: str


@frozen
class Super:
    """The result of ``super()``."""

    # The class after which attributes are looked up.
    owner: Value
    receiver: Value


@frozen
class Partial:
    """A ``functools.partial``."""

    function: Value
    args: tuple[Value, ...]
    kwargs: tuple[tuple[str, Value], ...]


@frozen
class GradMode:
    """A context manager or decorator that sets grad mode."""

    # None where it is unknown.
    mode: bool | None
    # None leaves inference mode as it is.
    inference: bool | None = None
    # What was on when making it set the mode, as ``torch.set_grad_enabled`` does; None for the others, which do nothing
    # until they are entered.
    before: Modes | None = None


@frozen
class Autocast:
    """``torch.autocast``, as a context manager or decorator."""

    enabled: bool


@frozen
class SavedTensorHooks:
    """A context manager under which nodes keep what a hook makes of the tensors they save: no write can spoil it."""


@frozen
class Expecting:
    """A context manager that ends what is raised in its block: ``pytest.raises(RuntimeError)``."""

    # The names of the classes of exceptions.
    kinds: tuple[str, ...]
    # Whether these are meant to be raised; where they are not, the program has failed although it goes on.
    is_meant: bool = True
    # What their message must be like, as ``re.search`` takes it.
    pattern: str | None = None


@frozen
class Range:
    """A ``range``; None where a bound is unknown."""

    start: int | None
    stop: int | None
    step: int | None
    # The formula of ``stop`` where that is a number which is not known.
    bound: Hashable = None


@frozen
class Zip:
    """``zip``, ``enumerate`` (a range and an iterable) and ``dict.items()``."""

    parts: tuple[Value, ...]


@frozen
class Generator:
    """A generator that has not run yet."""

    # The function's ``def``, or the generator expression.
    node: ast.AST
    # The heap id of the scope with its arguments.
    frame: int
    # None for a generator expression.
    function: Function | None = None


@frozen
class Due:
    """An item that a loop has not asked for yet. A loop asks for it when the iteration begins
    (``iteration.come_due``).
    """

    # An object of the program.
    receiver: HeapRef
    # What its ``__getitem__`` is given; None where the item is what its ``__next__`` returns.
    index: Const | None = None


@frozen
class Factory:
    """``field(default_factory=...)``: ``function`` makes a fresh value for every instance."""

    function: Value


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
    | Expecting
    | Range
    | Zip
    | Generator
    | Due
    | Factory
)

NONE = Const(None)
UNWRITTEN = UnwrittenResult(None)
TRUE, FALSE = Const(True), Const(False)


def as_key(value: Value) -> Any:
    """What a value is known by as the key of a dict; None where that is not known."""
    if isinstance(value, Const):
        try:
            hash(value.value)
        except TypeError:
            return None
        return value.value if value.value is not None else value
    if isinstance(value, Tuple):
        parts = [as_key(item) for item in value.items]
        return None if None in parts else Tuple(tuple(map(of_key, parts)))
    identity = value.receiver if isinstance(value, (BuiltinMethod, BoundMethod)) else value
    return value if isinstance(identity, (TensorRef, HeapRef)) else None


def entry_key(value: Value) -> Any:
    """What an entry of a dict is kept under: its key where that is known, otherwise an unknown value."""
    key = as_key(value)
    if key is not None:
        return key
    return value if isinstance(value, Unknown) else Unknown("key", False)


def of_key(key: Any) -> Value:
    """The value that is known by a key."""
    return key if isinstance(key, KEYS) else Const(key)


KEYS = (Const, TensorRef, HeapRef, BuiltinMethod, BoundMethod, Tuple, Unknown)
"""Values that are keys themselves."""


@dataclass(slots=True)
class Frame:
    """A scope."""

    variables: dict[str, Value]
    # The heap id of the enclosing scope; 0 where there is none.
    parent: int
    # The heap id of the module's scope.
    module: int
    # The function whose scope it is; None for a module, a class body or a comprehension.
    function: Function | None = None
    # The heap ids of the scopes that names declared global or nonlocal belong to.
    shared: dict[str, int] = field(default_factory=dict)

    def copy(self) -> Frame:
        return Frame(dict(self.variables), self.parent, self.module, self.function, self.shared)


SequenceKind = Literal[
    "list", "tuple", "set", "frozenset", "deque", "Queue", "Counter", "iterator", "ModuleList", "Sequential"
]
"""The type of a container without keys; a ``ParameterList`` is a ``ModuleList`` of tensors. A ``tuple`` is one of which
not all items are known; an ``iterator`` is what ``map``, ``reversed`` or ``parameters()`` return."""
MappingKind = Literal["dict", "config", "ModuleDict", "_parameters", "_buffers", "_modules"]
"""The type of a container with keys, or the attribute of a module that is one; the items of a ``config`` are its
attributes, too."""


@dataclass(slots=True)
class Sequence:
    """A container without keys: a list, set, deque, ``ModuleList``, ``Sequential`` or ``ParameterList``."""

    kind: SequenceKind
    items: list[Value]
    # Whether there may be more items.
    is_partial: bool = False
    # ``maxlen`` of a deque, ``maxsize`` of a queue.
    limit: int | None = None
    # ``training`` of a module.
    training: bool = True
    # The names of the layers of a ``Sequential``, where they are not their numbers.
    names: tuple[str, ...] = ()

    def copy(self) -> Sequence:
        return Sequence(self.kind, list(self.items), self.is_partial, self.limit, self.training, self.names)

    def push(self, value: Value) -> None:
        """Add an item at the end; a deque that is full loses its first one."""
        self.items.append(value)
        if self.limit is not None and len(self.items) > self.limit:
            self.items.pop(0)

    def push_left(self, value: Value) -> None:
        """Add an item at the beginning; a deque that is full loses its last one."""
        self.items.insert(0, value)
        if self.limit is not None and len(self.items) > self.limit:
            self.items.pop()

    def named(self) -> list[tuple[str, Value]]:
        """Each layer with its name."""
        known = self.names if len(self.names) == len(self.items) else map(str, range(len(self.items)))
        return list(zip(known, self.items))


@dataclass(slots=True)
class Mapping:
    """A container with keys: a dict, ``ModuleDict`` or ``ParameterDict``."""

    # By key: a value of Python, or a ``Value`` that is known by its identity (``as_key``). What was put in under a key
    # that is not known is kept under that unknown value.
    items: dict[Any, Value]
    # Whether there may be more keys.
    is_partial: bool = False
    kind: MappingKind = "dict"
    # ``default_factory`` of a ``defaultdict``.
    default: Value | None = None
    # The module whose dictionary this is: what is written here is written there.
    owner: HeapRef | None = None

    @property
    def has_known_keys(self) -> bool:
        """Whether every key is known, so that any other is missing."""
        return not self.is_partial and not any(isinstance(key, Unknown) for key in self.items)

    def surely_held(self) -> list[Value]:
        """What it holds for certain: of what was put in under unknown keys only the last, for they may be one key."""
        known = [value for key, value in self.items.items() if not isinstance(key, Unknown)]
        return known + [value for key, value in reversed(self.items.items()) if isinstance(key, Unknown)][:1]

    def copy(self) -> Mapping:
        return Mapping(dict(self.items), self.is_partial, self.kind, self.default, self.owner)


@dataclass(slots=True)
class Class:
    """A class of the program."""

    name: str
    node: ast.ClassDef
    bases: tuple[Value, ...]
    attributes: dict[str, Value]
    # Whether it is a dataclass or a ``NamedTuple``.
    dataclass: bool = False
    # The heap id of the scope that it was defined in.
    scope: int = 0
    # The method resolution order, once it was computed.
    order: list[Value] | None = field(default=None, compare=False, repr=False)

    def copy(self) -> Class:
        return Class(self.name, self.node, self.bases, dict(self.attributes), self.dataclass, self.scope, self.order)


@dataclass(slots=True)
class Instance:
    """An object with attributes."""

    # Its class: a ``HeapRef``, or the ``External`` that made it.
    kind: Value
    attributes: dict[str, Value]
    # Whether it may have attributes that are not known.
    is_partial: bool = False

    def copy(self) -> Instance:
        return Instance(self.kind, dict(self.attributes), self.is_partial)


@dataclass(slots=True)
class Optimizer:
    """An optimizer."""

    # The class, as the library calls it.
    name: str
    # The tensors that it updates.
    params: list[int]
    # Whether there may be others.
    is_partial: bool = False
    # Whether it writes the parameters without incrementing their version counters.
    fused: bool = False
    # Whether it calls a closure just once.
    single: bool = False
    # Whether the first step makes a state for a tensor, which later steps write.
    stateful: bool = False
    # The tensors that have such a state, each with the point where it was made in inference mode, if it was.
    began: dict[int, ProgramPoint | None] = field(default_factory=dict, compare=False)
    # Of one that came as an argument: when its gradients were cleared last, and the networks, by the names of the
    # arguments that they came as, of which it may hold the parameters (None before its first step).
    cleared: int = field(default=0, compare=False)
    candidates: tuple[str, ...] | None = None
    # Whether a framework lets it do nothing until more gradients are accumulated.
    is_paused: bool = False
    # Whether its step, which the program defines and which is running, has asked for a gradient.
    asks: bool = False
    # Its last step.
    stepped: ProgramPoint | None = field(default=None, compare=False)

    @property
    def searches(self) -> bool:
        """Whether a step calls its closure over and over, with an update after each call."""
        return self.name == "LBFGS"

    def is_like(self, other: Optimizer) -> bool:
        """Whether it does the same but for the order of its parameters, and whether there may be others, whatever it
        is called.
        """
        if self.searches is not other.searches:
            return False
        mine, yours = (replace(each, name="", params=sorted(each.params), is_partial=False) for each in (self, other))
        return mine == yours

    def copy(self) -> Optimizer:
        return replace(self, params=list(self.params), began=dict(self.began))


HeapObject = Frame | Sequence | Mapping | Class | Instance | Optimizer
"""What ``State.heap`` holds: the mutable objects of the program."""


def defaults_of(function: Function) -> dict[str, Value]:
    """The defaults of the parameters that have one."""
    positional = [*function.node.args.posonlyargs, *function.node.args.args]
    found = {each.arg: value for each, value in zip(reversed(positional), reversed(function.defaults))}
    return found | dict(function.keyword_defaults)


def without_defaults(function: Function) -> Function:
    """The function as its caller sees it who gives it all."""
    return replace(function, defaults=(), keyword_defaults=())
