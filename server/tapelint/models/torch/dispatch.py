"""From a call in the program to a row of the op table, to the tape.

    F.linear(x, w)   ->  resolve("nn.functional.linear", ["tensor", "tensor"])  ->  record(...)

What is not in the table, or fits several rows that disagree, becomes a tensor that depends on its arguments by
assumption.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from collections.abc import Mapping as MappingType
from collections.abc import Sequence as SequenceType
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache

from ... import ops
from ...autograd import Extent, Tensor, TorchRaises, doubt, give_history, invent, record, resolve_view
from ...autograd.events.broken_graph import RequiresGradRefused
from ...autograd.model.recording import Arg, flatten
from ...because import NOTHING, Because, option
from ...domain.completion import ProgramRaised
from ...domain.opaque_values import as_data
from ...domain.state import State
from ...domain.traversal import listed
from ...domain.values import (
    FALSE,
    TRUE,
    Const,
    External,
    Frame,
    HeapRef,
    Mapping,
    Origin,
    Range,
    Slice,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    something,
)
from ...engine.machine import Machine
from ...engine.paths import constant_contents
from ...engine.syntax.bound_names import unpacked_into
from ...ops.schema import Op
from . import devices, dtypes
from .autograd import grad_access, missing_grad
from .dtypes import result_kind
from .kept_aliases import measured
from .refined_rows import REFINEMENTS
from .tensor_shapes import results_extents


def tensor_of(machine: Machine, state: State, value: Value) -> int | None:
    """The tensor ``value`` is or, for data of unknown origin, may be; None where it is certainly none."""
    if isinstance(value, TensorRef):
        return value.id
    value = as_data(state, value)
    if isinstance(value, Unknown):
        if value.tensor_id not in state.tensors:
            state.tensors[value.tensor_id] = Tensor(
                value.tensor_id, value.tensor_id, value.tensor_id, state.point(machine.tree), value.requires_grad
            )
            if value.origin is Origin.BATCH:
                machine.facts.contents.in_batches.add(value.tensor_id)
            if value.origin is Origin.NAME:
                machine.facts.origins.names.setdefault(value.tensor_id, value.note)
        return value.tensor_id
    return None


def proven(machine: Machine, state: State, value: Value) -> Value:
    """The tensor that something unknown is for certain, since an operation has taken it that takes nothing else, maybe
    on another path.
    """
    if isinstance(value, Unknown) and value.tensor_id in machine.facts.contents.taken:
        key = tensor_of(machine, state, value)
        return value if key is None else TensorRef(key)
    return value


def note_taken(
    machine: Machine, op: Op, named: MappingType[str, object], args: SequenceType[Value], node: ast.AST
) -> None:
    """Unknown values are tensors that a call gives an op where that takes nothing else. What an operator takes may be a
    number, and what a method is called on an array.
    """
    if not isinstance(node, ast.Call):
        return
    is_method = isinstance(node.func, ast.Attribute) and len(args) == len(node.args) + 1
    for param in op.params:
        value = named.get(param.name)
        if (
            isinstance(value, Unknown)
            and param.kind.rstrip("?") in ONLY_TENSORS
            and not (is_method and value is args[0])
        ):
            machine.facts.contents.taken.add(value.tensor_id)


def release(state: State, place: ast.expr) -> None:
    """An item of data, or an attribute, gets a gradient from here on: what holds it is no data any more."""
    name = place
    while isinstance(name, (ast.Subscript, ast.Attribute)):
        name = name.value
    frame = state.get(state.frame, Frame)
    if name is not place and isinstance(name, ast.Name) and isinstance(frame.variables.get(name.id), Unknown):
        state.edit(state.frame, Frame).variables[name.id] = Unknown()


def tensor_list(machine: Machine, state: State, value: Value, above: tuple[Value, ...] = ()) -> list[int] | None:
    """The tensors of a list or tuple, or None if it holds none. ``above`` are the lists that it was found in: one that
    holds itself holds no more for that.
    """
    held = None if value in above else listed(state, value)
    items = [as_data(state, item) for item in held or ()]
    if any(isinstance(item, Unknown) for item in items):
        return [t for item in items if (t := tensor_of(machine, state, item)) is not None]
    found = [item.id for item in items if isinstance(item, TensorRef)]
    if not found and len(items) <= machine.limits.generator_items:  # long ones are data
        found = _nested(machine, state, items, (*above, value))
    return found or None


def _nested(machine: Machine, state: State, items: SequenceType[Value], above: tuple[Value, ...]) -> list[int]:
    """The tensors in the lists of a list."""
    return [t for item in items for t in tensor_list(machine, state, item, above) or ()]


def kind_of(machine: Machine, state: State, value: Value) -> str:
    """The coarse kind of an argument, for choosing an overload (see ``ops.binding``)."""
    if isinstance(value, TensorRef):
        sizes = state.tensors[value.id].sizes
        return f"{len(sizes)}d" if isinstance(sizes, tuple) else "tensor"
    if isinstance(value, Const):
        return ops.constant_kind(value.value) or "other"
    if isinstance(value, Unknown):
        return "tensor" if value.origin is Origin.BATCH else "number" if value.origin is Origin.NUMBER else "unknown"
    if (items := listed(state, value)) is not None:
        return "list" if not items or tensor_list(machine, state, value) else "ints"
    return _other_kind(state, value)


def _other_kind(state: State, value: Value) -> str:
    match value:
        case External(name):
            return "dtype" if name.startswith("torch.") else "unknown"
        case Slice():
            return "int"
        case HeapRef(key) if isinstance(state.heap[key], Mapping):
            return "other"
        case Range():
            return "ints"
    return "unknown"


@lru_cache(4096)
def resolved(name: str, positional: tuple[str, ...], keywords: tuple[tuple[str, str], ...]) -> Op | None:
    """The overload that arguments of these kinds choose."""
    return ops.resolve(name, positional, dict(keywords))


def run(
    machine: Machine,
    state: State,
    name: str,
    args: SequenceType[Value],
    kwargs: MappingType[str, Value],
    node: ast.AST,
    same: bool | None = None,
) -> Value | None:
    """Run the op ``name``; None where the table does not know it. Raises ProgramRaised where PyTorch raises."""
    wants = kwargs.get("requires_grad")
    if wants is not None and name != "requires_grad_":
        kwargs = {k: v for k, v in kwargs.items() if k != "requires_grad"}
    kwargs = _with_reduction(kwargs)
    positional = tuple([kind_of(machine, state, a) for a in args])
    if "none" in positional:
        for value in args:
            missing_grad.refuse_none(machine, state, value, node, "TypeError")
    keywords = tuple([(k, kind_of(machine, state, v)) for k, v in kwargs.items()])
    row = resolved(name, positional, keywords) or _with_numbers(state, name, (args, kwargs), (positional, keywords))
    premise = NOTHING
    if row is None:
        row, premise = _with_unknown_numbers(name, positional, keywords)
    if row is None:
        refuse_numbers(machine, state, name, args, kwargs)
        return None
    measured(machine, state, name, args, node)
    with supposing(state, premise):
        result = apply(machine, state, row, args, kwargs, node, same)
    if wants is not None and isinstance(result, TensorRef) and not row.flows:
        _require_grad(machine, state, result.id, wants, node)
    return result


FLAGS_OF_LOSSES = frozenset(("size_average", "reduce"))
"""What old code gives a loss in place of ``reduction``."""


def _with_reduction(kwargs: MappingType[str, Value]) -> MappingType[str, Value]:
    """The arguments of a loss with the ``reduction`` that its flags ask for, as torch/nn/_reduction.py has it."""
    if FLAGS_OF_LOSSES.isdisjoint(kwargs):
        return kwargs
    flags = {name: kwargs[name] for name in FLAGS_OF_LOSSES if name in kwargs}
    if not all(isinstance(flag, Const) and isinstance(flag.value, bool) for flag in flags.values()):
        return kwargs
    averages, reduces = (flags.get(name) != FALSE for name in ("size_average", "reduce"))
    asked = "none" if not reduces else "mean" if averages else "sum"
    return {**{name: value for name, value in kwargs.items() if name not in flags}, "reduction": Const(asked)}


def _with_numbers(
    state: State,
    name: str,
    given: tuple[SequenceType[Value], MappingType[str, Value]],
    kinds: tuple[tuple[str, ...], tuple[tuple[str, str], ...]],
) -> Op | None:
    """The overload where tensors are given for numbers: PyTorch's argument parser takes one without dimensions that
    does not require grad (``torch.histc(x, min=x.min())``), and refuses all others. The first argument is a tensor if
    it can be one.
    """
    (args, kwargs), (positional, keywords) = given, kinds
    numbers = tuple(["number" if _as_number(state, arg) else kind for arg, kind in zip(args, positional)])
    named = tuple([(key, "number" if _as_number(state, kwargs[key]) else kind) for key, kind in keywords])
    if (numbers, named) == kinds:
        return None
    return resolved(name, (*positional[:1], *numbers[1:]), named) or resolved(name, numbers, named)


def refuse_numbers(
    machine: Machine, state: State, name: str, args: SequenceType[Value], kwargs: MappingType[str, Value]
) -> None:
    """A tensor that requires grad is no number, where an op wants one and would lose its gradient:
    ``noise.normal_(0, std)``.
    """
    if not any(_is_tracked(state, each) for each in (*args[1:], *kwargs.values())):
        return

    def kind(value: Value) -> str:
        return "number" if _is_tracked(state, value) else kind_of(machine, state, value)

    first = tuple([kind_of(machine, state, each) for each in args[:1]])
    named = tuple([(key, kind(each)) for key, each in kwargs.items()])
    row = resolved(name, (*first, *[kind(each) for each in args[1:]]), named)
    if row is not None and row.source == "derivatives":
        raise ProgramRaised("TypeError", f"{name}(): argument must be float, not Tensor", by_torch=True)


def _is_tracked(state: State, value: Value) -> bool:
    """Whether something is a tensor that requires grad for certain."""
    if not isinstance(value, TensorRef) or state.tensors[value.id].assumption:
        return False
    return resolve_view(state, value.id).requires_grad is True


def _with_unknown_numbers(
    name: str, positional: tuple[str, ...], keywords: tuple[tuple[str, str], ...]
) -> tuple[Op | None, Because]:
    """The overload that is chosen if what is not known is a number (``F.dropout(x, self.p, inplace=True)``). Where zero
    has an overload of its own, one that writes needs that it is another number.
    """

    def chosen(kind: str) -> Op | None:
        def known(given: str) -> str:
            return kind if given == "unknown" else given

        numbers = tuple([known(each) for each in positional[1:]])
        return resolved(name, (*positional[:1], *numbers), tuple([(key, known(each)) for key, each in keywords]))

    row, zero = (chosen("float"), chosen("0")) if positional[:1] != ("unknown",) else (None, None)
    if row is None or not row.writes or zero is None or zero is row:
        return row, NOTHING
    number = next((each.name for each in zero.params if each.kind == "0"), "number")
    return row, option(f"`{number}` of `{name.rpartition('.')[2]}` is not 0")


@contextmanager
def supposing(state: State, premise: Because) -> Iterator[None]:
    """What is recorded inside needs a premise; what comes after does not."""
    before = state.supposed
    state.supposed = before & premise
    try:
        yield
    finally:
        state.supposed = before


def _as_number(state: State, value: Value) -> bool:
    """Whether a tensor can be read as a number, as far as is known."""
    if not isinstance(value, TensorRef):
        return isinstance(value, Unknown) and value.origin is Origin.BATCH
    return state.tensors[value.id].sizes in (None, ()) and resolve_view(state, value.id).requires_grad is not True


def _require_grad(machine: Machine, state: State, key: int, wants: Value, node: ast.AST) -> None:
    """``requires_grad=`` of a function that makes a tensor."""
    if wants == TRUE:
        refuse_integers(machine, state, key, node)
    grad = wants.value if isinstance(wants, Const) else None
    give_history(state, state.tensors[key], None, bool(grad) if grad is not None else None)


def apply(
    machine: Machine,
    state: State,
    op: Op,
    args: SequenceType[Value],
    kwargs: MappingType[str, Value],
    node: ast.AST,
    same: bool | None = None,
) -> Value:
    """Record one op on the tape and wrap what it returns."""
    args, kwargs = [as_data(state, a) for a in args], {k: as_data(state, v) for k, v in kwargs.items()}
    named = ops.bind(op, args, kwargs) or {}
    tensors = _operands(machine, state, op, named)
    given = flatten(tensors)
    given_keys = [key for _, key in given]
    if op.writes == ("out",) and state.grad_mode is True:
        refuse_out(state, op, given_keys)
    note_taken(machine, op, named, args, node)
    if op.name in REFINEMENTS:
        op = REFINEMENTS[op.name](machine.facts, state, op, named)
    known = constant_contents.known_in(machine, state, given_keys)
    try:
        extents = results_extents(state, op, named)
        kind = result_kind(state, op, named)
        count = _count(machine, state, named, node) if op.outputs < 0 else None
        keys = record(machine.facts, state, op, tensors, node, count, same, extents[0], kind)
    except TorchRaises as refused:
        raise ProgramRaised("RuntimeError", str(refused), by_torch=True) from None
    dtypes.follow(machine, op, named, given, keys)
    devices.follow(machine, named, given_keys, keys)
    constant_contents.follow(machine, state, op, named, known, keys)
    if machine.facts.training.wanted_gradients:  # before that nothing is computed from one
        _follow_gradients(machine, state, op, tensors, keys, node)
    if state.grad_mode is not False and may_flow(op.name, args, kwargs):
        doubt(state, keys)  # where the operands that are not known have a graph, so have the results
    if len(extents) > 1 or op.writes:
        resize(state, keys, extents)
    return _returned(op, keys)


def _operands(machine: Machine, state: State, op: Op, named: MappingType[str, object]) -> dict[str, Arg | None]:
    """The tensors given for the parameters of an op."""
    return {
        param.name: _argument(machine, state, param, named[param.name]) for param in op.params if param.name in named
    }


def _returned(op: Op, keys: SequenceType[int]) -> Value:
    """The results of an op as the call returns them: one tensor, or a tuple, which may have names."""
    if op.outputs < 0 or op.outputs > 1:
        return Tuple(tuple(TensorRef(k) for k in keys), FIELDS.get(op.name, ()))
    return TensorRef(keys[0]) if keys else Unknown(op.name)


def _follow_gradients(
    machine: Machine,
    state: State,
    op: Op,
    tensors: MappingType[str, Arg | None],
    keys: SequenceType[int],
    node: ast.AST,
) -> None:
    """What is computed of gradients is known to be, and so is what it is written to."""
    target = tensors.get(op.writes[0]) if op.writes else None
    given = [key for _, key in flatten(tensors)]
    grad_access.follow_op(machine, state, given, keys, target if isinstance(target, int) else None, node)


def resize(state: State, keys: SequenceType[int], extents: SequenceType[Extent]) -> None:
    """Each of several results has sizes of its own, and what is written in place may get other ones."""
    for key, extent in zip(keys, extents):
        if extent != state.tensors[key].sizes:
            state.tensors[key] = replace(state.tensors[key], sizes=extent)


def may_flow(name: str, args: SequenceType[Value], kwargs: MappingType[str, Value]) -> bool:
    """Whether some overload of an op takes something unknown, which may have been taken for a number for want of
    evidence, as a tensor with a gradient; or whether its ``out=`` may be given a graph.
    """
    if "out" in kwargs and "fills-out" in ops.traits_of(name):
        return True
    if not any(map(may_carry, (*args, *kwargs.values()))):
        return False
    bound = [(row, ops.bind(row, args, kwargs) or {}) for row in ops.candidates(name)]
    return any(may_carry(given.get(flow)) for row, given in bound for flow in row.flows)


def may_carry(value: object) -> bool:
    """Whether something unknown was taken for a number for want of evidence, and may be a tensor with a graph."""
    return isinstance(value, Unknown) and value.requires_grad is not False and value.origin is not Origin.NUMBER


TENSORS = ("tensor", "tensors", "operand", "matrix", "3d", "4d", "any")
ONLY_TENSORS = frozenset(("tensor", "matrix", "3d", "4d"))
SINGLE = frozenset(("tensor", "operand", "matrix", "3d", "4d", "any", "number", "other", "float", "int"))


def _argument(machine: Machine, state: State, param: ops.Param, value: object) -> int | list[int] | None:
    """The tensors given for one parameter."""
    kind = param.kind.rstrip("?")
    if isinstance(value, TensorRef) and kind != "tensors":
        return value.id if kind in SINGLE else None
    if isinstance(value, tuple):
        return _variadic(machine, state, value)
    if isinstance(value, Unknown) and (
        (value.origin is Origin.NUMBER and machine.facts.provenance_of(value.tensor_id).number_in is None)
        or (kind not in TENSORS and value.origin is not Origin.BATCH)
    ):
        return None  # a number, as far as is known; one read from a tensor hands on where its graph ended
    if kind == "any" and isinstance(value, (Tuple, HeapRef)):
        return tensor_list(machine, state, value)
    if kind in SINGLE:
        return tensor_of(machine, state, value)  # type: ignore[arg-type]
    return _several(machine, state, value) if kind == "tensors" else None


def _variadic(machine: Machine, state: State, values: tuple[Value, ...]) -> list[int] | None:
    """The tensors of a parameter that takes all remaining arguments, or one list of them."""
    if len(values) == 1 and not isinstance(values[0], TensorRef):
        return tensor_list(machine, state, values[0])
    return [t for v in values if (t := tensor_of(machine, state, v)) is not None]


def _several(machine: Machine, state: State, value: object) -> list[int] | None:
    """The tensors of a parameter that must hold some: if none is known, an unknown one stands for them."""
    found = tensor_list(machine, state, value) if isinstance(value, (Tuple, HeapRef)) else None
    single = tensor_of(machine, state, value if isinstance(value, (TensorRef, Unknown)) else Unknown("tensors"))
    return found or ([single] if single is not None else None)


FIELDS = dict.fromkeys(
    ("max", "min", "sort", "topk", "median", "mode", "cummax", "cummin", "kthvalue"), ("values", "indices")
)
CLONE = ops.candidates("clone")[0]


def _count(machine: Machine, state: State, named: MappingType[str, object], node: ast.AST) -> int:
    """How many tensors an op with a variable number returns. Where its arguments do not tell, so many as there are
    names for them: the gates of a recurrent cell are four. Where these do not tell either, 3.
    """
    most = machine.limits.generator_items
    if (known := count_of(named, most)) is not None:
        return known
    function = state.get(state.frame, Frame).function
    scope = machine.running_file(state) if function is None else function.node
    return min(machine.query(unpacked_into, scope).get(node, 3), most)


def count_of(named: MappingType[str, object], most: int) -> int | None:
    """How many tensors an op with a variable number returns, as far as the arguments tell."""
    for name in (
        "chunks",
        "sections",
        "indices_or_sections",
        "split_size_or_sections",
        "split_size",
        "split_sizes",
        "tensor_indices_or_sections",
    ):
        value = named.get(name)
        if isinstance(value, Const) and isinstance(value.value, int) and "split_size" not in name:
            return min(max(value.value, 1), most)
        if isinstance(value, Tuple):
            return max(len(value.items), 1)
    for name in ("tensors", "self", "inputs"):
        value = named.get(name)
        if isinstance(value, Tuple):
            return max(len(value.items), 1)
    return None


def opaque(machine: Machine, state: State, inputs: SequenceType[int], node: ast.AST, assumption: str | None) -> Value:
    """The result of an unknown call: a tensor only if it was given one that has a graph, otherwise simply
    unknown. Whether it has a graph itself is not known where none is recorded.
    """
    known = [key for key in dict.fromkeys(inputs) if resolve_view(state, key).requires_grad]
    constant_contents.handed_out(machine, state, inputs)
    machine.facts.objects.handed_out.update(key for key in inputs if state.tensors[key].requires_grad is False)
    if not known:
        return something(assumption or "")
    made = invent(machine.facts, state, known, node, assumption)
    doubt(state, [made])  # where gradients are off, it may switch them on for itself
    return TensorRef(made)


def refuse_out(state: State, op: Op, given: SequenceType[int]) -> None:
    """What has a gradient cannot be written to ``out=``: there would be no node for it, in most ops."""
    if "fills-out" in op.traits or not any(row.flows for row in ops.candidates(op.name)):
        return
    if any(resolve_view(state, key).requires_grad for key in given):
        words = f"{op.name}(): functions with out=... arguments don't support automatic differentiation"
        raise ProgramRaised("RuntimeError", words, by_torch=True)


def refuse_integers(machine: Machine, state: State, key: int, node: ast.AST) -> None:
    """Whole numbers and truth values have no gradient: PyTorch refuses to track them."""
    tensor = state.tensors[key]
    if tensor.kind in ("int", "bool") and not tensor.assumption:
        machine.facts.events.publish(
            RequiresGradRefused(
                point=state.point(node), tensor=key, reason=tensor.kind, wanted=True, created_at=tensor.created_at
            )
        )
        raise ProgramRaised("RuntimeError", "only Tensors of floating point dtype can require gradients", by_torch=True)
