"""What an annotation promises of an argument that was not given.

    net: nn.Module                an unknown network
    policy: str | type[QPolicy]   the class QPolicy, which is more than any text would be
    agent: Agent                  an object of that class of the program, made with inferred arguments
    rate: float                   a number: no graph comes of it
    state: Env                    nothing, where Env is not known

Where an argument may be one thing or another, the one that is known best is taken: it is what some caller gives.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from ..domain.mro import is_module, lookup_in_mro, mro_of
from ..domain.state import State
from ..domain.values import (
    Class,
    External,
    Frame,
    HeapRef,
    Instance,
    Module,
    Optimizer,
    Origin,
    Sequence,
    Tuple,
    Unknown,
    Value,
    something,
)
from ..engine.machine import Machine, OutOfFuel
from ..engine.statistics import Entry
from ..models.torch.nn.layer_models import add_unseen_parameters, opaque_module
from ..ops.module_names import is_layer
from ..semantics import attributes
from ..source import last_name

Make = Callable[[Machine, State, HeapRef, ast.AST], HeapRef]

PLAIN = {
    "int": Origin.NUMBER,
    "float": Origin.NUMBER,
    "bool": Origin.ANY,
    "str": Origin.ANY,
    "ndarray": Origin.ANY,
}
"""Types without gradients, and the origin of an unknown value of each."""
TENSORS = ("Tensor", "FloatTensor", "Variable")
OPTIMIZERS = ("Optimizer", "SGD", "Adam", "AdamW", "RMSprop")
MANY = ("list", "List", "Sequence", "Iterable", "Iterator", "Collection", "Set", "set", "frozenset")
WRAPPERS = ("Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired")


def promised(
    machine: Machine, state: State, scope: int, annotation: ast.expr | None, name: str, at: ast.AST, make: Make
) -> Value | None:
    """A value as an ``annotation`` written in ``scope`` describes it; None where it says nothing that would help."""
    options = [option for option in _options(annotation) if option is not None]
    found = [_promised(machine, state, scope, option, name, at, make) for option in options]
    known = [value for value in found if value is not None]
    better = next((value for value in known if not isinstance(value, Unknown)), None)
    if better is not None or len(known) < len(found):
        return better
    if len(known) == 1:
        return known[0]
    return something(name, False) if known and all(map(_is_data, known)) else None


def plain_origin(annotation: ast.expr) -> Origin | None:
    """The origin of a value that an ``annotation`` allows to be of plain types only; None where it allows others."""
    found = {PLAIN.get(last_name(option)) for option in _options(annotation) if option is not None}
    return found.pop() if len(found) == 1 else None


def is_tensor(annotation: ast.expr | None) -> bool:
    """Whether an annotation allows a tensor, or None, and nothing else."""
    options = [*_options(annotation)] if annotation is not None else []
    return bool(options) and all(each is not None and last_name(each) in TENSORS for each in options)


def _is_data(value: Value) -> bool:
    return isinstance(value, Unknown) and value.requires_grad is False


def _options(annotation: ast.expr | None) -> Iterator[ast.expr | None]:
    """The alternatives of a union, None left out."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except (SyntaxError, ValueError):
            return
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        yield from _options(annotation.left)
        yield from _options(annotation.right)
    elif isinstance(annotation, ast.Subscript) and last_name(annotation.value) == "Union":
        for part in _parts(annotation):
            yield from _options(part)
    elif isinstance(annotation, ast.Subscript) and last_name(annotation.value) in WRAPPERS:
        yield from _options(_parts(annotation)[0])
    elif not isinstance(annotation, ast.Constant) or annotation.value is not None:
        yield annotation


def _parts(annotation: ast.Subscript) -> list[ast.expr]:
    inner = annotation.slice
    return inner.elts or [inner] if isinstance(inner, ast.Tuple) else [inner]


def _promised(
    machine: Machine, state: State, scope: int, option: ast.expr, name: str, at: ast.AST, make: Make
) -> Value | None:
    if isinstance(option, ast.Subscript):
        return _generic(machine, state, scope, option, name, at, make)
    kind = named(machine, state, scope, option)
    if isinstance(kind, HeapRef) and isinstance(state.heap.get(kind.id), Class):
        return object_of(machine, state, kind, at, make)
    return _library(machine, state, kind.name if isinstance(kind, External) else last_name(option), name, at)


def _generic(
    machine: Machine, state: State, scope: int, option: ast.Subscript, name: str, at: ast.AST, make: Make
) -> Value | None:
    """A value of a generic type: a class for ``type[Net]``, a tuple of what its parts promise, a list of one item."""
    head, parts = last_name(option.value), _parts(option)
    if head in ("type", "Type"):
        return _class(machine, state, scope, parts[0])
    if head in ("tuple", "Tuple") and not isinstance(parts[-1], ast.Constant):
        found = [promised(machine, state, scope, part, name, at, make) for part in parts]
        return Tuple(tuple(v if v is not None else something(name) for v in found)) if any(found) else None
    inner = promised(machine, state, scope, parts[0], name, at, make) if head in MANY else None
    known = inner is not None and not isinstance(inner, Unknown)
    return HeapRef(state.new(Sequence("list", [inner], True))) if known and inner is not None else None


def _class(machine: Machine, state: State, scope: int, annotation: ast.expr) -> HeapRef | None:
    """The class of the program that ``type[...]`` names."""
    kind = next((k for part in _options(annotation) if part and (k := named(machine, state, scope, part))), None)
    return kind if isinstance(kind, HeapRef) and isinstance(state.heap.get(kind.id), Class) else None


def looked_up(machine: Machine, state: State, scope: int, name: str) -> Value | None:
    """What a name means in ``scope``."""
    outer, state.frame = state.frame, scope
    try:
        return machine.lookup(state, name)
    finally:
        state.frame = outer


def named(machine: Machine, state: State, scope: int, node: ast.expr) -> Value | None:
    """What a dotted name means in ``scope``."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return next((named(machine, state, scope, option) for option in _options(node) if option is not None), None)
    if isinstance(node, ast.Name):
        return looked_up(machine, state, scope, node.id)
    if isinstance(node, ast.Attribute):
        owner = named(machine, state, scope, node.value)
        if isinstance(owner, (External, Module)):
            return attributes.load(machine, state, owner, node.attr, node)
    return None


def _library(machine: Machine, state: State, kind: str, name: str, at: ast.AST) -> Value | None:
    last = kind.rpartition(".")[2]
    if (made := of_torch(machine, state, kind, name, at)) is not None:
        return made
    if last in TENSORS:
        return Unknown(origin=Origin.BATCH)
    return Unknown(last, False, origin=PLAIN[last]) if last in PLAIN else None


def of_torch(machine: Machine, state: State, kind: str, name: str, at: ast.AST) -> HeapRef | None:
    """A network or an optimizer of the class ``kind`` of PyTorch, of which nothing else is known."""
    last = kind.rpartition(".")[2]
    if is_layer(kind) or last in ("Module", "Sequential"):
        return opaque_module(machine, state, name, at)
    return HeapRef(state.new(Optimizer(name, [], True))) if last in OPTIMIZERS else None


def object_of(machine: Machine, state: State, kind: HeapRef, at: ast.AST, make: Make) -> Value | None:
    """An object of a class of the program, unless that takes too much. It may be one of a derived class."""
    if (
        kind.id in machine.imagined_classes
        or len(machine.imagined_classes) >= machine.limits.nested_annotations
        or not _matters(machine, state, kind)
    ):
        return None
    depth, limit = machine.context.depth, machine.fuel
    trial = state.fork()
    machine.fuel = min(machine.fuel, machine.fuel_used + machine.limits.annotation_fuel)
    machine.imagined_classes.append(kind.id)
    try:
        made = make(machine, trial, kind, at)
    except OutOfFuel:
        machine.context.depth = depth
        if limit <= machine.fuel:
            raise
        return None
    except RecursionError as error:
        machine.context.depth = depth
        machine.fail(Entry("object", state.get(kind.id, Class).node), error)
        return None
    finally:
        machine.imagined_classes.pop()
        machine.fuel = limit
    edited = trial.edit(made.id, Instance)
    edited.is_partial = True
    if is_module(trial, kind) and not _has_forward(trial, kind):  # then it is one of a derived class
        add_unseen_parameters(machine, trial, edited, trial.get(kind.id, Class).name, at)
    state.become(trial)
    return made


def _has_forward(state: State, kind: HeapRef) -> bool:
    """Whether calling an object of a module's class runs a ``forward``: of its own, or of a layer of PyTorch."""
    libraries = [base.name for base in mro_of(state, kind) if isinstance(base, External)]
    if any(is_layer(name) and name != "torch.nn.Module" for name in libraries):
        return True
    found = lookup_in_mro(state, kind, "forward")
    return found is not None and found[1] is not None


def _matters(machine: Machine, state: State, kind: HeapRef) -> bool:
    """Whether anything of autograd can be in objects of a class."""
    thing = state.get(kind.id, Class)
    if any(isinstance(base, External) and base.name.startswith(("enum.", "typing.Protocol")) for base in thing.bases):
        return False
    return machine.imports is None or not machine.imports.is_idle(state, state.get(thing.scope, Frame).module, [])
