"""``torch.func``: gradients of functions, by reverse and by forward mode.

    g = grad(f)(x)                # f runs on an alias of x; g has the graph that a gradient with create_graph has
    y, pull = vjp(f, x)           # the same, with the second half left for later: pull(v)
    J = jacrev(f)(x)              # and with as many first gradients as y has elements

The function is executed in place, in a graph of its own (``facts.running.levels``), and a backward through that graph
raises where PyTorch's does. What forward mode makes (``jvp``, ``jacfwd``, ``hessian``, ``linearize``) has a graph of
which only this is known: there is none where nothing that went in had one.

``torch.vmap``, and the states of several networks stacked for it:

    y = vmap(f)(x)        # f runs once, on what looks like one row of x; its ops run on all rows at once

Inside, a batched tensor is the whole of x with one dimension out of sight: what is written to it is written to x, and
what the function returns of it is x.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ....autograd import (
    Tensor,
    TorchRaises,
    backward,
    fresh_id,
    leaf,
    resolve_view,
    unused,
)
from ....autograd.model.func_levels import Level, alias, leave, see_outside
from ....domain.completion import ProgramRaised
from ....domain.state import State
from ....domain.traversal import tensors_in
from ....domain.values import (
    FALSE,
    TRUE,
    Const,
    External,
    HeapRef,
    Mapping,
    Partial,
    Sequence,
    TensorRef,
    Tuple,
    Unknown,
    Value,
)
from ....engine.machine import Machine
from .. import dispatch
from ..autograd.backward_calls import new_gradient, refused
from ..call_outcomes import for_each
from ..nn.module_registry import is_module_like, members, parameters_of
from ..registry import FUNCTIONS, Call, function

SCALAR = "Expected f(*args) to return a scalar Tensor"
PACKED = "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks"
HOMES = ("torch.func.", "functorch.")
After = Callable[[State, Level, "list[Value]", Value], Value]
"""What is made of a function's result on a path, before its level ends; the values are the arguments it was given."""


def prepared(machine: Machine, state: State, call: Call) -> Value:
    """``grad(f, argnums, has_aux)``: a function; what it does is below, under its name in parentheses."""
    name = call.name.rpartition(".")[2]
    given = (call.get(0, "func"), call.get(1, "argnums", Const(0)), call.get(2, "has_aux", FALSE))
    return Partial(External(f"torch.func.({name})"), given, ())


for _home in HOMES:
    FUNCTIONS.update({_home + name: prepared for name in ("grad", "grad_and_value", "jacrev", "jacfwd", "hessian")})


def changed(state: State, value: Value, change: Callable[[int], Value], above: tuple[Value, ...] = ()) -> Value:
    """A value, with something else for each of the tensors in it; ``above`` are the lists and dicts it was found in."""
    if isinstance(value, TensorRef):
        return change(value.id)
    if isinstance(value, Tuple):
        return replace(value, items=tuple(changed(state, item, change, above) for item in value.items))
    thing = state.heap[value.id] if isinstance(value, HeapRef) and value not in above else None
    within = (*above, value)
    if isinstance(thing, Sequence) and thing.kind == "list":
        found = [changed(state, item, change, within) for item in thing.items]
        return HeapRef(state.new(Sequence("list", found, thing.is_partial)))
    if isinstance(thing, Mapping) and thing.kind == "dict":
        items = {key: changed(state, item, change, within) for key, item in thing.items.items()}
        return HeapRef(state.new(Mapping(items, thing.is_partial)))
    return value


def places(value: Value, count: int) -> list[int] | None:
    """The positions that ``argnums`` names; None where it is not known."""
    numbers: Iterable[Value] = [value] if isinstance(value, Const) else value.items if isinstance(value, Tuple) else ()
    whole = [n.value for n in numbers if isinstance(n, Const) and isinstance(n.value, int)]
    found = [n % count for n in whole if -count <= n < count]
    return found if found and len(found) == len([*numbers]) else None


def parts(outcome: Value, has_aux: Value) -> tuple[Value, Value | None]:
    """What is differentiated, and what is only passed on."""
    if has_aux != TRUE:
        return outcome, None
    if isinstance(outcome, Tuple) and len(outcome.items) == 2:
        return outcome.items[0], outcome.items[1]
    return Unknown("output"), Unknown("aux")


def inside(
    machine: Machine, state: State, call: Call, run: Value, args: list[Value], chosen: list[int] | None, after: After
) -> Value:
    """Call a function at a level of its own, by which the arguments at ``chosen`` are leaves."""
    if state.saved_tensor_override is not None:
        raise ProgramRaised("RuntimeError", PACKED, by_torch=True)
    given = [key for value in (*args, *call.kwargs.values()) for key in tensors_in(state, value)]
    inputs: list[int] = []

    def wrapped(key: int) -> Value:
        inputs.append(alias(state, key, call.node))
        return TensorRef(inputs[-1])

    handed = list(args)
    for index in range(len(args)) if chosen is None else chosen:
        known = dispatch.tensor_of(machine, state, args[index])
        handed[index] = changed(state, args[index] if known is None else TensorRef(known), wrapped)
    if not inputs:
        return machine.call_unknown(state, args, call.kwargs, call.node, External(call.name))
    memories = frozenset(state.tensors[key].version_counter for key in (*given, *inputs))
    level = Level(inputs[0], state.grad_mode, memories, frozenset(inputs))
    mode, inference = state.grad_mode, state.inference
    state.grad_mode, state.inference = True, False

    def ended(path: State, outcome: Value | ProgramRaised) -> Value:
        try:
            if isinstance(outcome, ProgramRaised):
                raise outcome
            return after(path, level, handed, outcome)
        finally:
            leave(machine.facts, path, level, given)
            path.grad_mode, path.inference = mode, inference

    return at_level(machine, state, level, (run, handed, call.kwargs), call, ended)


def at_level(
    machine: Machine,
    state: State,
    level: Level,
    called: tuple[Value, list[Value], dict[str, Value]],
    call: Call,
    ended: Callable[[State, Value | ProgramRaised], Value],
) -> Value:
    """Call a function, with these arguments, at a level of its own; ``ended`` makes the result of each outcome."""
    run, args, kwargs = called
    outer, machine.facts.running.levels = machine.facts.running.levels, (*machine.facts.running.levels, level)
    try:
        return for_each(
            machine, state, call.key, lambda: machine.call(state, run, args, kwargs, call.node, call.key), ended
        )
    finally:
        machine.facts.running.levels = outer


def go_backward_to(machine: Machine, state: State, roots: list[int], inputs: Iterable[int], call: Call) -> None:
    """The backward from ``roots`` to those of ``inputs`` that they depend on: it may raise."""
    inputs = list(inputs)
    without = unused(machine.facts, state, roots, inputs)
    reached = [key for key in inputs if key not in without]
    if not roots or not reached:
        return
    try:
        backward(machine.facts, state, roots, call.node, None, True, reached, accumulate=False, inner=True)
    except TorchRaises as error:
        raise refused(machine, str(error)) from None


def gradient(
    machine: Machine, state: State, roots: list[int], key: int, starts: list[int], create: bool | None, call: Call
) -> int:
    """What is made for one input; zeros where nothing reaches it."""
    if not roots or unused(machine.facts, state, roots, [key]):
        return leaf(state, call.node)
    return new_gradient(machine, state, roots, key, starts, create, call.node)


def tracked(state: State, value: Value) -> list[int]:
    return [key for key in tensors_in(state, value) if resolve_view(state, key).requires_grad is not False]


@function("torch.func.(grad)", "torch.func.(grad_and_value)", "torch.func.(jacrev)")
def reverse(machine: Machine, state: State, call: Call) -> Value:
    run, argnums, has_aux, *args = call.args
    chosen = places(argnums, len(args))
    if chosen is None:
        return machine.call_unknown(state, args, call.kwargs, call.node, External(call.name))
    scalar = not call.name.endswith("(jacrev)")
    inner = Call(call.name, args, call.kwargs, call.node, call.key)

    def after(path: State, level: Level, handed: list[Value], outcome: Value) -> Value:
        value, aux = parts(outcome, has_aux)
        if isinstance(value, Unknown):
            return Unknown("gradient")
        keys = list(tensors_in(path, value))
        if not keys or scalar and (not isinstance(value, TensorRef) or path.tensors[keys[0]].rank):
            raise refused(machine, SCALAR)
        roots = tracked(path, value)
        go_backward_to(machine, path, roots, sorted(level.inputs), call)

        def made(key: int) -> Value:
            if not scalar and not isinstance(value, TensorRef):
                return Unknown("jacobian")
            result = gradient(machine, path, roots, key, [], True, call)
            if scalar:
                like = resolve_view(path, key)
                path.tensors[result] = replace(path.tensors[result], sizes=like.sizes, kind=like.kind)
            return TensorRef(result)

        found = [changed(path, handed[index], made) for index in chosen]
        result = Tuple(tuple(found)) if isinstance(argnums, Tuple) else found[0]
        if call.name.endswith("(grad_and_value)"):
            return Tuple((result, value if aux is None else Tuple((value, aux))))
        return result if aux is None else Tuple((result, aux))

    return inside(machine, state, inner, run, args, chosen, after)


# The pullback of vjp


@function("torch.func.vjp", "functorch.vjp")
def vjp(machine: Machine, state: State, call: Call) -> Value:
    run, args = call.args[0], call.args[1:]
    has_aux = call.kwargs.pop("has_aux", FALSE)
    inner = Call(call.name, args, {}, call.node, call.key)

    def after(path: State, level: Level, handed: list[Value], outcome: Value) -> Value:
        value, aux = parts(outcome, has_aux)
        roots, inputs = tracked(path, value), sorted(level.inputs)
        facts = machine.facts.fork()
        try:
            with facts.events.heard_by():
                backward(facts, path.fork(), roots, call.node, None, True, inputs, accumulate=False, inner=True)
            spoiled = False
        except TorchRaises:
            spoiled = True
        records = tuple(resolve_view(path, key) for key in (*roots, *inputs))
        graph = Const((records[: len(roots)], records[len(roots) :], level, spoiled))
        pull = Partial(External("torch.func.(pullback)"), (graph, Tuple(tuple(handed))), ())
        return Tuple((value, pull) if aux is None else (value, pull, aux))

    return inside(machine, state, inner, run, args, None, after)


@function("torch.func.(pullback)")
def pullback(machine: Machine, state: State, call: Call) -> Value:
    """``pull(v)``: the graph is that of the function, which was frozen when its level ended."""
    facts, handed, *starts = call.args
    assert isinstance(facts, Const) and isinstance(handed, Tuple)
    outputs, inputs, level, spoiled = facts.value
    roots = [again(state, tensor) for tensor in outputs]
    names = {tensor.id: again(state, tensor) for tensor in inputs}
    if spoiled:
        go_backward_to(machine, state, roots, names.values(), call)
    given = [key for value in starts for key in tensors_in(state, value)]
    found = {key: gradient(machine, state, roots, name, given, state.grad_mode, call) for key, name in names.items()}
    for key, made in found.items():
        like = state.tensors[names[key]]
        state.tensors[made] = replace(state.tensors[made], sizes=like.sizes, kind=like.kind)
    see_outside(machine.facts, state, level, found.values())
    return changed(state, handed, lambda key: TensorRef(found[key]) if key in found else Unknown("gradient"))


def again(state: State, tensor: Tensor) -> int:
    """A tensor as it was inside a level that has ended."""
    key = fresh_id()
    state.tensors[key] = replace(tensor, id=key)
    return key


# Forward mode


@function("torch.func.jvp", "functorch.jvp")
def jvp(machine: Machine, state: State, call: Call) -> Value:
    run, primals, tangents = call.get(0, "func"), call.get(1, "primals"), call.get(2, "tangents")
    if not isinstance(primals, Tuple):
        return machine.call_unknown(state, call.args, call.kwargs, call.node, External(call.name))

    def after(path: State, outcome: Value) -> Value:
        value, aux = parts(outcome, call.kwargs.get("has_aux", FALSE))
        moved = pushed(path, value, [primals, tangents], call)
        return Tuple((value, moved) if aux is None else (value, moved, aux))

    return forward(machine, state, run, list(primals.items), {}, call, after)


@function("torch.func.linearize")
def linearize(machine: Machine, state: State, call: Call) -> Value:
    run, args = call.args[0], call.args[1:]

    def after(path: State, outcome: Value) -> Value:
        push = Partial(External("torch.func.(linearized)"), (outcome, Tuple(tuple(args))), ())
        return Tuple((outcome, push))

    return forward(machine, state, run, args, {}, call, after)


@function("torch.func.(linearized)")
def linearized(machine: Machine, state: State, call: Call) -> Value:
    return pushed(state, call.args[0], call.args[1:], call)


@function("torch.func.(jacfwd)", "torch.func.(hessian)")
def jacfwd(machine: Machine, state: State, call: Call) -> Value:
    """``hessian`` is ``jacfwd`` of ``jacrev``."""
    run, argnums, has_aux, *args = call.args
    if call.name.endswith("(hessian)"):
        run = Partial(External("torch.func.(jacrev)"), (run, argnums, FALSE), ())

    def after(path: State, outcome: Value) -> Value:
        value, aux = parts(outcome, has_aux)
        made = pushed(path, value, args, call)
        if not isinstance(made, TensorRef) or isinstance(argnums, Tuple):
            made = Unknown("jacobian")
        return made if aux is None else Tuple((made, aux))

    return forward(machine, state, run, args, call.kwargs, call, after)


def forward(
    machine: Machine,
    state: State,
    run: Value,
    args: list[Value],
    kwargs: dict[str, Value],
    call: Call,
    after: Callable[[State, Value], Value],
) -> Value:
    """Run a function whose derivative is computed along with it."""

    def ended(path: State, outcome: Value | ProgramRaised) -> Value:
        if isinstance(outcome, ProgramRaised):
            raise outcome
        return after(path, outcome)

    level = Level(fresh_id(), state.grad_mode, differentiates=False)
    return at_level(machine, state, level, (run, args, kwargs), call, ended)


def pushed(state: State, value: Value, given: list[Value], call: Call) -> Value:
    """What forward mode makes for each output: data, where nothing that went in has a graph."""
    plain = not any(tracked(state, item) for item in (value, *given)) and not any(
        isinstance(item, Unknown) and item.requires_grad is not False for item in given
    )
    return changed(state, value, lambda key: TensorRef(leaf(state, call.node, False if plain else None)))


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

    return at_level(machine, state, level, (run, handed, named), call, ended)


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
