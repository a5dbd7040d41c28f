"""Python's own functions, and the few of the standard library that move tensors around."""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Callable, Hashable
from dataclasses import replace
from keyword import iskeyword
from typing import Any

from ...autograd import Extent
from ...domain.completion import IteratorExhausted, ProgramRaised
from ...domain.induction import InductionValue
from ...domain.opaque_values import is_data
from ...domain.options import settled
from ...domain.state import State
from ...domain.values import (
    NONE,
    Const,
    External,
    Factory,
    HeapRef,
    Mapping,
    Partial,
    Range,
    Sequence,
    SequenceKind,
    Slice,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    Zip,
    is_counted,
    unknown_number,
)
from ...engine.lost_history import taken
from ...engine.machine import Machine
from ...engine.open_objects import changed
from ...engine.paths.conditions import symbolic
from ...engine.paths.constant_contents import FINITE
from ...engine.paths.truth import length, truth
from ..torch.autograd import missing_grad
from ..torch.dispatch import run
from ..torch.known_shape import shape
from ..torch.registry import Call, function
from .containers import in_order
from .sets import collected

NUMBERS = {name for name, each in vars(math).items() if type(each) is type(math.exp)}
NUMBERS -= {"prod", "sumprod", "frexp", "modf", *FINITE}
"""What is one number of Python, whatever it is given; products are whatever their factors make."""

NAMED_TUPLE = "(named tuple)"


@function("builtins.range", "tqdm.trange", "tqdm.auto.trange", "tqdm.notebook.trange")
def make_range(machine: Machine, state: State, call: Call) -> Value:
    numbers = [a.value if isinstance(a, Const) and isinstance(a.value, int) else None for a in call.args]
    if not numbers:
        return Range(None, None, None)
    start, stop = (0, numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[1])
    step = numbers[2] if len(numbers) > 2 else 1
    return Range(start, stop, step, _bound(machine, state, call) if stop is None and step == 1 else None)


def _bound(machine: Machine, state: State, call: Call) -> Hashable | None:
    """The formula of the number at which a range ends."""
    given = call.node.args[:2] if isinstance(call.node, ast.Call) else []
    if len(given) != min(len(call.args), 2) or any(isinstance(each, ast.Starred) for each in given):
        return None
    return symbolic(machine, given[-1], state)


ENDLESS = 1 << 40
"""Items of an `enumerate`, which has no end of its own: more than any loop executes, and still a number."""


@function("builtins.enumerate")
def enumerated(machine: Machine, state: State, call: Call) -> Value:
    start = call.get(1, "start", Const(0))
    begin = start.value if isinstance(start, Const) and isinstance(start.value, int) else None
    return Zip((Range(begin, None if begin is None else begin + ENDLESS, 1), call.get(0, "iterable")))


@function("builtins.zip")
def zipped(machine: Machine, state: State, call: Call) -> Value:
    return Zip(tuple(call.args))


@function(
    "tqdm.tqdm",
    "tqdm.auto.tqdm",
    "tqdm.notebook.tqdm",
    "tqdm",
    "rich.progress.track",
)
def passed_through(machine: Machine, state: State, call: Call) -> Value:
    """What is iterated over; a progress bar that is given nothing (``tqdm(total=n)``) only shows numbers."""
    iterable = call.get(0, "iterable")
    return External("tqdm.bar") if iterable == NONE else iterable


@function("builtins.iter")
def iterator(machine: Machine, state: State, call: Call) -> Value:
    """One that begins with the first item; so does that of ``d.values()``, each time. What a function returns until it
    returns the second argument is not known.
    """
    if len(call.args) > 1:
        return Unknown("iter")
    value = machine.iterator(state, call.get(0, "iterable"), call.node)
    if isinstance(value, Tuple):
        return HeapRef(state.new(Sequence("iterator", list(value.items))))
    thing = state.heap[value.id] if isinstance(value, HeapRef) else None
    if isinstance(thing, Sequence) and thing.kind in ("list", "set", "tuple", "deque", "iterator"):
        return HeapRef(state.new(Sequence("iterator", list(thing.items), thing.is_partial)))
    return value


@function("builtins.len")
def size(machine: Machine, state: State, call: Call) -> Value:
    value = call.get(0, "obj")
    if isinstance(value, Tuple) and is_counted(value.items):
        return Const(len(value.items))
    if isinstance(value, Range) and (known := length(value)) is not None:
        return Const(known)
    if isinstance(value, TensorRef):
        return _first_size(state.tensors[value.id].sizes)
    if isinstance(value, Const):
        return _length_of(value.value)
    if isinstance(value, HeapRef) and (count := _items_in(state.heap[value.id])) is not None:
        machine.observations.add(value.id)
        return InductionValue(count, machine.observations, grows=True) if state.iterations else Const(count)
    own = machine.call_dunder(state, value, "__len__", [], call.node) if isinstance(value, HeapRef) else None
    return own if isinstance(own, Const) else unknown_number()


def _items_in(thing: object) -> int | None:
    """How many items a container has; None where that is not known: several unknown keys may be one."""
    match thing:
        case Sequence(is_partial=False):
            return len(thing.items)
        case Mapping() if thing.has_known_keys:
            return len(thing.items)
    return None


def _first_size(extent: Extent) -> Value:
    """``len`` of a tensor, which a number has none of."""
    if extent == ():
        raise ProgramRaised("TypeError", "len() of a 0-d tensor", by_torch=True)
    return shape(extent, Const(0))


def _length_of(value: Any) -> Value:
    try:
        return Const(len(value))
    except TypeError:
        raise ProgramRaised("TypeError") from None


SEQUENCES: dict[str, SequenceKind] = {
    "builtins.list": "list",
    "builtins.tuple": "tuple",
    "builtins.set": "set",
    "builtins.frozenset": "frozenset",
    "builtins.sorted": "list",
    "builtins.reversed": "iterator",
    "collections.deque": "deque",
    "queue.Queue": "Queue",
    "collections.Counter": "Counter",
}
"""What makes a container of items. The result of ``tuple`` is one of these where not all of its items are known."""


@function(*SEQUENCES)
def sequence(machine: Machine, state: State, call: Call) -> Value:
    kind, maker = SEQUENCES[call.name], call.name.rpartition(".")[2]
    limit = call.get(1, "maxlen") if kind == "deque" else call.get(0, "maxsize") if kind == "Queue" else NONE
    source = call.get(0, "iterable", NONE) if kind != "Queue" else NONE
    items, more = [], False
    if source != NONE:
        found = machine.iterate(state, source, call.node)
        items, more = list(found.values), not found.exact
    if maker == "reversed":
        items.reverse()
    if maker == "sorted":
        items = in_order(items, more, call.kwargs)
    if maker == "tuple" and not more:
        return Tuple(tuple(items))
    bound = limit.value if isinstance(limit, Const) and isinstance(limit.value, int) else None
    if kind == "deque" and bound is not None and not more:
        items = items[max(len(items) - bound, 0) :]
    thing = collected(state, kind, items, more)
    thing.limit = bound
    return HeapRef(state.new(thing))


@function(
    "builtins.dict",
    "collections.OrderedDict",
    "collections.defaultdict",
    "weakref.WeakKeyDictionary",
    "weakref.WeakValueDictionary",
)
def mapping(machine: Machine, state: State, call: Call) -> Value:
    made = Mapping({})
    args = list(call.args)
    if call.name.endswith("defaultdict") and args:
        made.default = args.pop(0)
    if args:
        source = state.heap[args[0].id] if isinstance(args[0], HeapRef) else None
        if isinstance(source, Mapping):
            made.items, made.is_partial = dict(source.items), source.is_partial
        else:
            pairs = machine.iterate(state, args[0], call.node)
            made.is_partial = not pairs.exact
            for pair in pairs.values:
                key = pair.items[0] if isinstance(pair, Tuple) and len(pair.items) == 2 else None
                made.is_partial |= not isinstance(key, Const)
                if isinstance(pair, Tuple) and isinstance(key, (Const, Unknown)):  # which key it is is not known
                    made.items[key.value if isinstance(key, Const) else key] = pair.items[1]
    made.items.update(call.kwargs)
    return HeapRef(state.new(made))


@function("builtins.sum")
def total(machine: Machine, state: State, call: Call) -> Value:
    """``sum`` is a chain of additions; on tensors it builds graph."""
    result = call.get(1, "start", Const(0))
    for item in machine.iterate(state, call.get(0, "iterable"), call.node).values:
        result = machine.combine(state, ast.Add(), result, item, call.node)
    return result


@function("functools.reduce", "_functools.reduce")
def reduced(machine: Machine, state: State, call: Call) -> Value:
    """``reduce(combine, items, start)``, such as ``reduce(getattr, "encoder.weight".split("."), net)``."""
    combine, found = call.args[0], machine.iterate(state, call.args[1], call.node)
    values = [*call.args[2:3], *found.values]
    if not values or not found.exact:
        return machine.call_unknown(state, call.args, call.kwargs, call.node, External(call.name))
    result, *rest = values
    for item in rest:
        result = machine.call(state, combine, [result, item], {}, call.node)
    return result


@function("builtins.map")
def mapped(machine: Machine, state: State, call: Call) -> Value:
    mapping = call.args[0]
    sources = [machine.iterate(state, a, call.node) for a in call.args[1:]]
    count = min((len(s.values) for s in sources), default=0)
    values = [machine.call(state, mapping, [s.values[i] for s in sources], {}, call.node) for i in range(count)]
    return HeapRef(state.new(Sequence("iterator", values, not all(s.exact for s in sources))))


@function("builtins.filter")
def filtered(machine: Machine, state: State, call: Call) -> Value:
    """Where it is not known of an item whether it is kept, neither is how many are."""
    keeps, found = call.args[0], machine.iterate(state, call.args[1], call.node)
    verdicts = [
        truth(machine, state, item if keeps == NONE else machine.call(state, keeps, [item], {}, call.node))
        for item in found.values
    ]
    kept = [item for item, verdict in zip(found.values, verdicts) if verdict is not False]
    return HeapRef(state.new(Sequence("iterator", kept, not found.exact or None in verdicts)))


@function("builtins.next")
def following(machine: Machine, state: State, call: Call) -> Value:
    value = call.get(0, "iterator")
    due = machine.items_due(state, value, call.node, 1).values[:1]
    if due and isinstance(value, HeapRef):
        _go_on(machine, state, value.id)
    try:
        found = [machine.come_due(state, item, call.node, everywhere=True) for item in due]
    except IteratorExhausted:
        if len(call.args) > 1:
            return call.args[1]
        raise ProgramRaised("StopIteration", is_meant=True) from None
    if found and isinstance(found[0], Unknown):
        return replace(found[0], formula=None)  # another one each time
    return found[0] if found else call.args[1] if len(call.args) > 1 else Unknown("item")


def _go_on(machine: Machine, state: State, key: int) -> None:
    """A known iterator has given its first item; the last one that is known stands for those that may follow."""
    thing = state.heap[key]
    if isinstance(thing, Sequence) and thing.kind == "iterator" and (len(thing.items) > 1 or not thing.is_partial):
        changed(machine, state, key)
        state.edit(key, Sequence).items.pop(0)


OF_NUMBERS: dict[str, Callable[..., object]] = {"max": max, "min": min, "abs": abs, "round": round}
"""What is computed where all arguments are known."""
MAX_DIGITS = sys.float_info.max_10_exp
"""Digits to which numbers are rounded: ``round(n, -10**9)`` makes a power of ten first, which may be larger than
memory.
"""


@function("builtins.max", "builtins.min", "builtins.abs", "builtins.round", "builtins.pow", "builtins.divmod")
def arithmetic(machine: Machine, state: State, call: Call) -> Value:
    known = [a.value for a in call.args if isinstance(a, Const)]
    if len(known) == len(call.args) and not call.kwargs:
        return _computed(OF_NUMBERS.get(call.name.rpartition(".")[2]), known)
    if call.args and isinstance(call.args[0], TensorRef) and call.name in ("builtins.abs", "builtins.pow"):
        return run(machine, state, call.name.rpartition(".")[2], call.args, {}, call.node) or Unknown("number")
    return _picked(machine, state, call)


def _computed(function: Callable[..., object] | None, known: list[Any]) -> Value:
    """What a function makes of values that are known; a number that is not, where that might take long."""
    is_long = function is round and any(isinstance(each, int) and abs(each) > MAX_DIGITS for each in known[1:])
    if function is None or is_long:
        return Unknown("number", False)
    try:
        return Const(function(*known))
    except (ArithmeticError, TypeError, ValueError):  # the program's own mistake, such as the largest of none
        return Unknown("number", False)


def _picked(machine: Machine, state: State, call: Call) -> Value:
    """The result of ``max``, ``min``, ``abs`` or ``round`` where not all arguments are known: one of the tensors, or a
    number, which has no history if no argument has one.
    """
    given: list[Value] = call.args
    if len(given) == 1 and call.name in ("builtins.max", "builtins.min"):
        given = machine.iterate(state, given[0], call.node).values
    tensors = [a for a in given if isinstance(a, TensorRef)]
    if tensors and not is_data(state, tensors[-1]):
        return tensors[-1]
    if not all(is_data(state, a) for a in given):
        return Unknown("number")
    return tensors[-1] if tensors else Unknown("number", False)


@function(
    "builtins.int",
    "builtins.float",
    "builtins.bool",
    "builtins.str",
    "builtins.repr",
    "builtins.format",
    "builtins.id",
    "builtins.hash",
    "builtins.ord",
    "builtins.hex",
)
def plain(machine: Machine, state: State, call: Call) -> Value:
    value = call.get(0, "x")
    if call.name == "builtins.bool" and not isinstance(value, (Const, TensorRef)):
        known = truth(machine, state, value)
        if known is not None:
            return Const(known)
    kind = {"int": int, "float": float, "bool": bool, "str": str}.get(call.name.rpartition(".")[2])
    if kind is str and value == External("torch.Tensor"):
        return Const("<class 'torch.Tensor'>")
    if kind and isinstance(value, Const) and not call.kwargs and all(isinstance(a, Const) for a in call.args):
        try:
            return Const(kind(*(a.value for a in call.args if isinstance(a, Const))))
        except (TypeError, ValueError, OverflowError):
            return Unknown("number", False)
    return taken(machine, state, value, call.node)


@function(*(f"math.{name}" for name in NUMBERS))
def number(machine: Machine, state: State, call: Call) -> Value:
    """A number of Python, whatever it is computed from (https://docs.python.org/3/library/math.html)."""
    read = next((value for value in call.args if isinstance(value, TensorRef)), call.get(0, "x"))
    return taken(machine, state, read, call.node)


@function(
    "builtins.print",
    "builtins.input",
    "builtins.dir",
    "builtins.globals",
    "builtins.locals",
    "builtins.object",
    "builtins.bytes",
)
def quiet(machine: Machine, state: State, call: Call) -> Value:
    if call.name == "builtins.print":
        for value in call.args:
            missing_grad.tell_printed(machine, state, value, call.node)
        return NONE
    return Unknown("builtin", False)


@function("typing.cast", "typing_extensions.cast")
def cast(machine: Machine, state: State, call: Call) -> Value:
    """``cast(T, x)`` is ``x``, whatever ``T`` says."""
    return call.get(1, "val")


@function("builtins.eval")
def evaluated(machine: Machine, state: State, call: Call) -> Value:
    """What a name stands for; of other code nothing is known."""
    code = settled(call.get(0, "source"))
    name = code.value if isinstance(code, Const) and len(call.args) == 1 else None
    if isinstance(name, str) and name.isidentifier() and not iskeyword(name):
        return machine.lookup(state, name)
    return machine.call_unknown(state, call.args, call.kwargs, call.node, External(call.name))


@function("builtins.vars")
def attributes(machine: Machine, state: State, call: Call) -> Value:
    """A dict of the attributes of an object."""
    if len(call.args) == 1 and isinstance(call.args[0], HeapRef):
        return machine.load_attribute(state, call.args[0], "__dict__", call.node)
    return Unknown("builtin", False)


@function("builtins.any", "builtins.all")
def quantified(machine: Machine, state: State, call: Call) -> Value:
    """Known where one item decides, and where all are known."""
    value, decisive = call.get(0, "iterable"), call.name == "builtins.any"
    if isinstance(value, TensorRef):
        return Unknown("builtin", False)
    found = machine.iterate(state, value, call.node)
    verdicts = [truth(machine, state, item) for item in found.values]
    if found.exact and decisive in verdicts:
        return Const(decisive)
    return Unknown("builtin", False) if None in verdicts or not found.exact else Const(not decisive)


@function("sys.exit", "builtins.exit", "builtins.quit", "os._exit", "os.abort")
def leave(machine: Machine, state: State, call: Call) -> Value:
    raise ProgramRaised("SystemExit", is_meant=True)


@function("builtins.slice")
def make_slice(machine: Machine, state: State, call: Call) -> Value:
    match call.args:
        case [stop]:
            return Slice(NONE, stop, NONE)
        case [start, stop]:
            return Slice(start, stop, NONE)
        case [start, stop, step]:
            return Slice(start, stop, step)
    raise ProgramRaised("TypeError")


@function("collections.namedtuple")
def named_tuple(machine: Machine, state: State, call: Call) -> Value:
    """A class of tuples with names."""
    fields = call.get(1, "field_names")
    names: list[str] = []
    if isinstance(fields, Const) and isinstance(fields.value, str):
        names = fields.value.replace(",", " ").split()
    elif not isinstance(fields, Const):
        names = [str(i.value) for i in machine.iterate(state, fields, call.node).values if isinstance(i, Const)]
    return Partial(External(NAMED_TUPLE), (Tuple(tuple(Const(n) for n in names)),), ())


@function(NAMED_TUPLE)
def fill_named_tuple(machine: Machine, state: State, call: Call) -> Value:
    names = call.args[0]
    assert isinstance(names, Tuple)
    labels = tuple(str(n.value) for n in names.items if isinstance(n, Const))
    return Tuple(tuple(call.get(i + 1, name, Unknown(name)) for i, name in enumerate(labels)), labels)


@function("functools.partial")
def partial(machine: Machine, state: State, call: Call) -> Value:
    return Partial(call.args[0], tuple(call.args[1:]), tuple(call.kwargs.items())) if call.args else Unknown("partial")


@function("dataclasses.field")
def field(machine: Machine, state: State, call: Call) -> Value:
    factory = call.kwargs.get("default_factory")
    return Factory(factory) if factory is not None else call.kwargs.get("default", Unknown("field"))
