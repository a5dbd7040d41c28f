"""``torch.vmap``, and the states of several networks stacked for it.

    y = vmap(f)(x)        # f runs once, on what looks like one row of x; its ops run on all rows at once

Inside, a batched tensor is the whole of x with one dimension out of sight: what is written to it is written to x, and
what the function returns of it is x.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ....autograd import Level, fresh_id, leaf, resolve_view
from ....domain.completion import ProgramRaised
from ....domain.state import State
from ....domain.values import Const, External, HeapRef, Mapping, Partial, TensorRef, Tuple, Unknown, Value
from ....engine.machine import Machine
from .. import dispatch
from ..call_outcomes import for_each
from ..nn.module_registry import is_module_like, members, parameters_of
from ..registry import Call, function
from .transforms import changed


@function("torch.vmap", "torch.func.vmap", "functorch.vmap")
def vmap(machine: Machine, state: State, call: Call) -> Value:
    given = (call.get(0, "func"), call.get(1, "in_dims", Const(0)), call.get(2, "out_dims", Const(0)))
    return Partial(External("torch.func.(vmap)"), given, ())


@function("torch.func.(vmap)")
def batched(machine: Machine, state: State, call: Call) -> Value:
    run, in_dims, out_dims, *args = call.args
    dims = list(in_dims.items) if isinstance(in_dims, Tuple) else [in_dims] * len(args)
    rows: dict[int, int] = {}
    sizes: list[int | None] = []

    def row(key: int, dim: Value) -> Value:
        """What a batched tensor looks like inside."""
        if dim == Const(None):
            return TensorRef(key)
        at = dim.value if isinstance(dim, Const) and isinstance(dim.value, int) else 0
        whole = resolve_view(state, key).sizes
        if isinstance(whole, tuple) and -len(whole) <= at < len(whole):
            sizes.append(whole[at])
        made = dispatch.run(machine, state, "select", [TensorRef(key), Const(at), Const(0)], {}, call.node)
        if not isinstance(made, TensorRef):
            return TensorRef(key)
        rows[made.id] = key
        return made

    handed = [given(state, value, dim, row) for value, dim in zip(args, dims)]
    named = {name: given(state, value, Const(0), row) for name, value in call.kwargs.items()}
    count = next((size for size in sizes if size is not None), None)
    level = Level(fresh_id(), state.grad_mode, differentiates=False)

    def ended(path: State, outcome: Value | ProgramRaised) -> Value:
        if isinstance(outcome, ProgramRaised):
            raise outcome

        def whole(key: int) -> Value:
            if key in rows and out_dims == Const(0) and in_dims == Const(0):
                return TensorRef(rows[key])
            if key <= level.begin:
                stretched = dispatch.run(machine, path, "unsqueeze", [TensorRef(key), Const(0)], {}, call.node)
                return stretched or TensorRef(key)
            tensor = path.tensors[key]
            sizes = tensor.sizes if out_dims == Const(0) else None
            path.tensors[key] = replace(tensor, sizes=(count, *sizes) if isinstance(sizes, tuple) else None)
            return TensorRef(key)

        return changed(path, outcome, whole)

    outer, machine.facts.levels = machine.facts.levels, (*machine.facts.levels, level)
    try:
        return for_each(
            machine, state, call.key, lambda: machine.call(state, run, handed, named, call.node, call.key), ended
        )
    finally:
        machine.facts.levels = outer


def given(state: State, value: Value, dim: Value, row: Callable[[int, Value], Value]) -> Value:
    """An argument with its rows out of sight; ``dim`` may be as nested as it is."""
    if isinstance(dim, Tuple) and isinstance(value, Tuple) and len(dim.items) == len(value.items):
        return replace(value, items=tuple(given(state, v, d, row) for v, d in zip(value.items, dim.items)))
    inner, thing = (state.heap.get(v.id) if isinstance(v, HeapRef) else None for v in (dim, value))
    if isinstance(inner, Mapping) and isinstance(thing, Mapping):
        items = {k: given(state, v, inner.items.get(k, Const(None)), row) for k, v in thing.items.items()}
        return HeapRef(state.new(Mapping(items, thing.is_partial)))
    return changed(state, value, lambda key: row(key, dim))


@function("torch.func.stack_module_state")
def stack_module_state(machine: Machine, state: State, call: Call) -> Value:
    """Parameters and buffers of networks of one class, each stacked: new leaves, by the names of the first network."""
    models = machine.iterate(state, call.get(0, "models"), call.node)
    first = models.values[0] if models.values else None
    if not isinstance(first, HeapRef) or not is_module_like(state, first):
        return Unknown("stacked")
    count = len(models.values) if models.exact else None
    trained = dict(parameters_of(state, first))

    def stacked(named: Iterable[tuple[str, int]], grad: bool) -> Value:
        items: dict[object, Value] = {}
        for name, key in named:
            sizes = state.tensors[key].sizes
            wants = state.tensors[key].requires_grad if grad else False
            known = (count, *sizes) if isinstance(sizes, tuple) else None
            items[name] = TensorRef(leaf(state, call.node, wants, sizes=known))
        return HeapRef(state.new(Mapping(items)))

    held = [(name, item.id) for name, item in members(state, first) if isinstance(item, TensorRef)]
    rest = [(name, key) for name, key in held if key not in trained.values()]
    return Tuple((stacked(trained.items(), True), stacked(rest, False)))
