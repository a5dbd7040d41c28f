"""What functions of torch do in Python before their op runs, or by several.

torch.einsum("nc,ck->nk", [a, b])      is einsum("nc,ck->nk", a, b)
F.embedding(ids, w, max_norm=1.0)      first shortens the rows of w, in place and under no_grad
"""

from __future__ import annotations

import ast

from ...autograd import bump, resolve_view
from ...domain.state import State
from ...domain.values import NONE, Const, HeapRef, Sequence, TensorRef, Tuple, Unknown, Value
from ...engine.machine import Machine
from . import dispatch
from .dispatch import run
from .registry import TENSOR_METHODS, Call, answers, function, method


@function("torch.einsum", "torch.functional.einsum")
def einsum(machine: Machine, state: State, call: Call) -> Value:
    """The operands may be given in one list."""
    args: list[Value] = call.args
    if len(args) == 2:
        given = args[1]
        if isinstance(given, Tuple):
            args = [args[0], *given.items]
        elif (
            isinstance(given, HeapRef) and isinstance(thing := state.heap[given.id], Sequence) and not thing.is_partial
        ):
            args = [args[0], *thing.items]
    made = dispatch.run(machine, state, "einsum", args, call.kwargs, call.node)
    return Unknown("einsum") if made is None else made


@function("torch.nn.functional.embedding", "torch.nn.functional.embedding_bag")
def embedding(machine: Machine, state: State, call: Call) -> Value:
    name = call.name.rpartition(".")[2]
    shorten_rows(state, call.get(1, "weight"), call.get(3, "max_norm"), call.node)
    made = dispatch.run(machine, state, f"nn.functional.{name}", call.args, call.kwargs, call.node)
    return Unknown(name) if made is None else made


def shorten_rows(state: State, weight: Value, max_norm: Value, node: ast.AST) -> None:
    """Where there is a ``max_norm``, rows are written whether or not one is too long."""
    if isinstance(weight, TensorRef) and isinstance(max_norm, Const) and max_norm != NONE:
        bump(state, resolve_view(state, weight.id).version_counter, "embedding_renorm_", node, tensor=weight.id)


@method(TENSOR_METHODS, "unique")
def unique_values(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    return _unique(machine, state, [receiver, *call.args], call)


@function("torch.unique")
def unique(machine: Machine, state: State, call: Call) -> Value:
    return _unique(machine, state, call.args, call)


def _unique(machine: Machine, state: State, args: list[Value], call: Call) -> Value:
    """One tensor, unless ``return_inverse`` or ``return_counts`` asks for others beside it."""
    made = dispatch.run(machine, state, "unique", args, call.kwargs, call.node)
    given = Call(call.name, args, call.kwargs, call.node)
    asked = given.flag(2, "return_inverse"), given.flag(3, "return_counts")
    return made.items[0] if asked == (False, False) and isinstance(made, Tuple) else made or Unknown("unique")


@function("torch.nn.utils.parameters_to_vector", "torch.nn.utils.convert_parameters.parameters_to_vector")
def parameters_to_vector(machine: Machine, state: State, call: Call) -> Value:
    """A concatenation of views with one dimension: its graph saves nothing."""
    found = machine.iterate(state, call.get(0, "parameters"), call.node, machine.limits.made_items)
    flat = [run(machine, state, "view", [part, Const(-1)], {}, call.node) or Unknown("view") for part in found.values]
    parts = HeapRef(state.new(Sequence("list", flat, not found.exact)))
    return run(machine, state, "cat", [parts], {}, call.node) or Unknown("vector")


# It gives each parameter new data: no version is counted, and what was saved keeps the old.
answers(lambda: NONE, "torch.nn.utils.vector_to_parameters", "torch.nn.utils.convert_parameters.vector_to_parameters")
