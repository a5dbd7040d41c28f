"""Arguments that a function of the program does not take: Python raises before its body runs.

    def forward(self, x): ...
    net()               x is missing
    net(x, mask)        there is no second parameter
    net(y=x)            there is no `y`

Only a call of which all arguments are known is judged (``spelled.py``), and only a function whose signature is the one
of its ``def``: a decorator of unknown code may give it any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...domain.completion import ProgramRaised
from ...domain.mro import dataclass_fields, is_module, lookup_in_mro, mro_of, own_function, own_method
from ...domain.opaque_values import KNOWN
from ...domain.state import State
from ...domain.values import BoundMethod, Class, External, Function, HeapRef, Instance, Partial, Tuple, Value
from ...models.python.builtins import NAMED_TUPLE
from ...models.python.dynamic_attributes import has_own_signature
from .spelled import Given


def refuse_arguments(state: State, function: Value, given: Given | None) -> None:
    """Raise Python's TypeError if ``function`` does not take the arguments that a call has, where they are known."""
    reason = None if given is None else _refused(state, function, given)
    if reason is not None:
        raise ProgramRaised("TypeError", reason)


def takes_as_given(state: State, function: Value) -> bool:
    """Whether what a call gives reaches the program's own function as it is, and nothing else does."""
    match function:
        case Function():
            return has_own_signature(function)
        case BoundMethod(Function() as method, _):
            return method.kind != "property" and has_own_signature(method)
        case HeapRef():
            thing = state.heap[function.id]
            if isinstance(thing, Class) and _is_made_by_init(state, function):
                made_by = own_function(state, function, "__init__")
                return made_by is not None and has_own_signature(made_by)
            own = _called(state, function) if isinstance(thing, Instance) else None
            return own is not None and takes_as_given(state, own)
        case _:
            return False


def needed(state: State, function: Value) -> int:
    """How many positional arguments what is called needs; 0 where that is not known."""
    match function:
        case Function():
            spec = function.node.args
            return len(spec.posonlyargs) + len(spec.args) - len(function.defaults)
        case BoundMethod(method, _):
            return needed(state, method) - 1
        case Partial(External(name), (Tuple() as fields,)) if name == NAMED_TUPLE:
            return len(fields.items)
        case HeapRef() if isinstance(thing := state.heap[function.id], Class) and thing.dataclass:
            return len(dataclass_fields(state, mro_of(state, function)))
        case _:
            return 0


def _refused(state: State, function: Value, given: Given) -> str | None:
    match function:
        case Function():
            return mismatch(function, given) if has_own_signature(function) else None
        case BoundMethod(Function(kind="property"), _):
            return None  # what it returns takes them
        case BoundMethod(Function() as method, _):
            return mismatch(method, Given(given.count + 1, given.names)) if has_own_signature(method) else None
        case Partial(inner, args, kwargs):
            named = given.names | {name for name, _ in kwargs}
            return _refused(state, inner, Given(given.count + len(args), named))
        case HeapRef():
            thing = state.heap[function.id]
            if isinstance(thing, Class):
                return _refused_by_class(state, function, given)
            return _refused_by_object(state, function, given) if isinstance(thing, Instance) else None
        case _:
            return None


def mismatch(function: Function, given: Given) -> str | None:
    """What is wrong with the arguments for a function, as Python says it; None if they fit."""
    spec = function.node.args
    positional = [each.arg for each in (*spec.posonlyargs, *spec.args)]
    only = {each.arg for each in spec.kwonlyargs}
    if given.count > len(positional) and spec.vararg is None:
        return f"takes {len(positional)} positional arguments but {given.count} were given"
    by_position, by_name = positional[: given.count], positional[len(spec.posonlyargs) :]
    named = given.names & ({*by_name} | only)
    if twice := next((name for name in by_position if name in named), None):
        return f"got multiple values for argument '{twice}'"
    if spec.kwarg is None and (unexpected := min(given.names - named, default=None)):
        return f"got an unexpected keyword argument '{unexpected}'"
    needed = positional[given.count : len(positional) - len(function.defaults)]
    only -= {name for name, _ in function.keyword_defaults}
    missing = next((name for name in (*needed, *sorted(only)) if name not in named), None)
    return None if missing is None else f"missing a required argument: '{missing}'"


def _refused_by_class(state: State, kind: HeapRef, given: Given) -> str | None:
    """``Net(...)``: what its own ``__init__`` does not take, if nothing else has a say in how objects are made."""
    if not _is_made_by_init(state, kind):
        return None
    found = lookup_in_mro(state, kind, "__init__")
    if found is not None and isinstance(found[1], Function):
        return _refused(state, BoundMethod(found[1], kind), given)
    takes_none = found is None or found[1] is None and found[0] == External("torch.nn.Module")
    return "takes no arguments" if takes_none and (given.count or given.names) else None


def _is_made_by_init(state: State, kind: HeapRef) -> bool:
    """Whether calling a class hands the arguments to ``__init__`` alone: no metaclass, ``__new__`` or class decorator
    may change that, in no class that it is derived from.
    """
    return all(
        _makes_plainly(thing) if isinstance(thing, Class) else thing in PLAIN_BASES for thing in _bases(state, kind)
    )


def _makes_plainly(kind: Class) -> bool:
    node = kind.node
    return not (kind.dataclass or node.decorator_list or node.keywords or "__new__" in kind.attributes)


def _bases(state: State, kind: HeapRef) -> Iterator[Class | Value]:
    for base in mro_of(state, kind):
        thing = state.heap[base.id] if isinstance(base, HeapRef) else base
        yield thing if isinstance(thing, Class) else base


PLAIN_BASES: Sequence[Value] = (External("builtins.object"), External("torch.nn.Module"), External("abc.ABC"))
"""Classes of libraries that leave it to ``__init__`` what a class derived from them is given."""


def _refused_by_object(state: State, receiver: HeapRef, given: Given) -> str | None:
    """``net(...)``: what its ``__call__`` or ``forward`` does not take; hooks may give it something else."""
    own = _called(state, receiver)
    return None if own is None else _refused(state, own, given)


def _called(state: State, receiver: HeapRef) -> Value | None:
    """The method that a call of an object runs; None if that is not known, as under hooks."""
    if state.hooks:
        return None
    kind = state.get(receiver.id, Instance).kind
    own = own_method(state, receiver, "__call__")
    if own is None and is_module(state, kind) and _calls_forward(state, kind):
        return own_method(state, receiver, "forward")
    return own


def _calls_forward(state: State, kind: Value) -> bool:
    """Whether the library's classes among the bases hand what they are called with to ``forward``."""
    names = [base.name for base in mro_of(state, kind) if isinstance(base, External)]
    return all(name.partition(".")[0] in KNOWN for name in names)
