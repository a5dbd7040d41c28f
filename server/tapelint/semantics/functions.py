"""The program's own functions: defining, binding arguments, running the body in place, generators."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from ..autograd import fresh_id
from ..domain.completion import Break, Continue, ProgramRaised, Raise, Return, Unwind
from ..domain.opaque_values import KNOWN
from ..domain.state import State
from ..domain.values import (
    NONE,
    UNWRITTEN,
    Autocast,
    External,
    Frame,
    Function,
    FunctionKind,
    Generator,
    HeapRef,
    Mapping,
    Partial,
    Sequence,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    something,
)
from ..engine import given_graphs
from ..engine.activation import SuspendedAtCall, pop, push, unwind
from ..engine.evaluation import Items
from ..engine.machine import EXPRESSIONS, Machine
from ..engine.observer import DropReason, OpaqueReason, Outcomes
from ..engine.open_objects import made, open_up
from ..engine.syntax.syntactic_summary import is_unwritten, syntactic_summary
from ..models.torch.autograd.grad_mode import as_mode
from ..models.torch.registry import CUSTOM, DECORATORS
from ..source import Definition, cached_on_node, walk
from . import networks_by_use
from .call_shares import abandoned, ended, left_out, share_of, within
from .displays import SOURCE, comprehend
from .reassigned_data import used_by
from .receivers import is_imagined

Consumer = Callable[[State, Value], list[State]]
"""Runs the body of the loop that asked a generator for a value: the paths that come out of it."""


def define_function(
    machine: Machine, state: State, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: int | None
) -> Value:
    """What ``def`` binds: the function, after its decorators."""
    scope = state.frame
    function: Value = make_function(machine, state, node, scope, owner)
    for decorator in reversed(node.decorator_list):
        function = _decorate(machine, state, decorator, function, node)
    return function


def make_function(
    machine: Machine,
    state: State,
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
    scope: int,
    owner: int | None,
) -> Function:
    defaults = tuple(machine.eval(d, state) for d in node.args.defaults)
    keywords = tuple(
        (a.arg, machine.eval(d, state)) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults) if d is not None
    )
    return Function(node, scope, defaults, keywords, owner)


def _decorate(machine: Machine, state: State, decorator: ast.expr, function: Value, node: Definition) -> Value:
    value = machine.eval(decorator, state)
    if not isinstance(function, Function):
        return function
    mode = as_mode(value)
    if mode is not None:
        return replace(function, grad_mode=mode.mode, inference=mode.inference)
    if isinstance(value, Autocast):
        return replace(function, casting=value.enabled)
    if is_transform(value):
        return machine.call(state, value, [function], {}, node)
    if isinstance(value, External):
        if value.name == CUSTOM:
            return something(node.name)
        kind = KINDS.get(value.name)
        if (package := value.name.partition(".")[0]) not in KNOWN:
            open_up(machine, [function])
            return function if package in RUN_AS_WRITTEN else replace(function, decorator=ast.unparse(decorator))
        return function if kind is None else replace(function, kind=kind)
    if isinstance(decorator, ast.Attribute) and (kind := ACCESSORS.get(decorator.attr)):
        return replace(function, kind=kind)
    if isinstance(value, Function):
        return machine.call(state, value, [function], {}, node)
    open_up(machine, [value, function])
    return function


RUN_AS_WRITTEN = frozenset(
    ("absl", "asyncclick", "click", "cloup", "fire", "hydra", "lightning", "pytest", "pytorch_lightning", "rich_click")
    + ("typer", "tyro")
)
"""Packages whose decorators leave the body of a function as it is written."""
KINDS: dict[str, FunctionKind] = {
    "builtins.staticmethod": "static",
    "builtins.classmethod": "class",
    "builtins.property": "property",
    "functools.cached_property": "cached",
}
"""What a decorator makes of a method."""
ACCESSORS: dict[str, FunctionKind] = {"setter": "setter", "getter": "getter", "deleter": "deleter"}
"""What else belongs to a property: ``@size.setter``."""


def is_transform(value: Value) -> bool:
    """Whether a decorator makes something else of the function it is given: ``@torch.vmap``, perhaps with arguments."""
    name = getattr(value.function if isinstance(value, Partial) else value, "name", "")
    return name == "torch.vmap" or name.startswith("torch.func.") or name in DECORATORS


BATCH = "**"
"""The name of what is given as ``**batch``: data, whose names are unknown."""


def bind_arguments(
    machine: Machine,
    state: State,
    function: Function,
    args: list[Value],
    kwargs: dict[str, Value],
    frame: int,
    is_spelled: bool = False,
) -> None:
    """Put the arguments of a call into a new frame: all that there are, if they ``are spelled`` out. Missing ones are
    unknown, and so is what a batch may hold.
    """
    spec = function.node.args
    variables: dict[str, Value] = state.get(frame, Frame).variables
    positional = [*spec.posonlyargs, *spec.args]
    kwargs = dict(kwargs)
    batch = kwargs.pop(BATCH, None)
    for index, parameter in enumerate(positional):
        name = parameter.arg
        if index < len(args):
            variables[name] = args[index]
        elif name in kwargs:
            variables[name] = kwargs.pop(name)
        else:
            back = index - (len(positional) - len(function.defaults))
            default = function.defaults[back] if back >= 0 else None
            if isinstance(batch, Unknown) and default in (None, NONE):
                # Batches are alike: all have it, or none.
                of = (BATCH, name) if batch.requires_grad is False else (BATCH, name, batch)
                default = something(name, batch.requires_grad, of)
            variables[name] = default if default is not None else something(name)
    keyword_defaults = dict(function.keyword_defaults)
    for parameter in spec.kwonlyargs:
        name = parameter.arg
        default = keyword_defaults.pop(name, None)
        variables[name] = kwargs.pop(name) if name in kwargs else default if default is not None else something(name)
    if spec.vararg is not None:
        variables[spec.vararg.arg] = Tuple(tuple(args[len(positional) :]), is_spelled=is_spelled)
    if spec.kwarg is not None:
        options = HeapRef(state.new(Mapping(keyword_defaults | kwargs, batch is not None)))
        variables[spec.kwarg.arg] = options
        if is_spelled:
            made(machine, state, options.id)


def call_function(
    machine: Machine,
    state: State,
    function: Function,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    key: object = None,
    stepping: bool = False,
) -> Value:
    """Run a function of the program in place. With several outcomes the statement that called it is run again for each
    (see ``machine``); where there is no ``key`` to do so, only the first is followed. When ``stepping`` it may raise
    ``SuspendedAtCall`` instead, ready to run: only the call that a stretch waits for asks for that."""
    definition, given = function.node, (*args, *kwargs.values())
    machine.unit.called.add(definition)
    given_graphs.note(machine.unit.led, state, definition, args, kwargs)
    is_deep = machine.context.depth >= machine.limits.call_depth
    if is_deep or tells_nothing_new(machine, state, definition, given):
        machine.leave_opaque(node, function, OpaqueReason.DEPTH if is_deep else OpaqueReason.RECURSION)
        state.unread = fresh_id()
        open_up(machine, (function, *given))
        return Unknown("recursion")
    module = state.get(function.frame, Frame).module
    held = () if function.frame == module else used_by(state, function)  # what a decorator was given
    if machine.imports is not None and machine.imports.is_idle(state, module, [*given, *held]):
        if not machine.query(makes_function, definition):
            return _torch_free(machine, state, function, args, kwargs, node, key)
    share = None if stepping else share_of(machine, definition, module)
    if share is None:
        return _executed(machine, state, function, args, kwargs, node, key, stepping)
    run = partial(_executed, machine, state, function, args, kwargs, node, key)
    result = within(machine, state, definition, share, run) if share else None
    if result is not None:
        ended(machine, state, definition, given, result)
        return result
    return abandoned(machine, state, function, args, kwargs, node)


def _torch_free(
    machine: Machine,
    state: State,
    function: Function,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    key: object,
) -> Value:
    """What a function returns of a module that has nothing of PyTorch: it may decide what the program does, as options
    do. It is executed if all its calls take little.
    """
    definition, taken = function.node, machine.unit.taken
    share = machine.limits.torch_free_call_fuel - taken.get(definition, 0)

    def run() -> Value | None:
        try:
            return _executed(machine, state, function, args, kwargs, node, key)
        except ProgramRaised:
            return None

    if share > 0 and not machine.query(_yields, definition):
        result = within(machine, state, definition, share, run)
        if result is not None:
            return result
        taken[definition] = machine.limits.torch_free_call_fuel
    open_up(machine, (function, *args, *kwargs.values()))
    return Unknown("call")


def _executed(
    machine: Machine,
    state: State,
    function: Function,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
    key: object = None,
    stepping: bool = False,
) -> Value:
    """What a function returns whose code is run."""
    definition, given = function.node, (*args, *kwargs.values())
    before = state.fork() if _may_be_left_out(machine, definition) else None
    frame = state.new(Frame({}, function.frame, state.get(function.frame, Frame).module, function))
    is_spelled, machine.context.spelled_call = node is machine.context.spelled_call, None
    bind_arguments(machine, state, function, args, kwargs, frame, is_spelled)
    networks_by_use.arguments(machine, state, frame, definition, node)
    if (
        stepping
        and not machine.memo.pending_paths
        and not isinstance(definition, ast.Lambda)
        and not machine.query(_yields, definition)
    ):
        raise SuspendedAtCall(push(machine, state, function, frame, given, node), machine.memo.values, key)
    machine.unit.dependencies.add(definition)
    if syntactic_summary(definition).yields and not isinstance(definition, ast.Lambda):
        return Generator(definition, frame, function)
    entry = push(machine, state, function, frame, given, node)
    try:
        outcomes = _outcomes(machine, state, function, given[0] if given else None)
    finally:
        unwind(machine, entry)
    if before is not None and all(isinstance(o.completion, Raise) and o.completion.error.is_unwanted for o in outcomes):
        state.become(before)
        return left_out(machine, state, function, args, kwargs, node)
    return choose(machine, state, pop(machine, entry, outcomes), key)


def _outcomes(machine: Machine, state: State, function: Function, receiver: Value | None) -> list[State]:
    """The paths on which the code of a function ends."""
    definition = function.node
    if isinstance(definition, ast.Lambda):
        machine.unit.completed.add(body := definition.body)
        return machine.run_paths(state, lambda s: _return(s, machine.eval(body, s)))
    outcomes = machine.block(definition.body, [state])
    if function.owner is not None and machine.query(is_unwritten, definition):
        for out in outcomes:
            out.completion = Return(Unknown("unwritten") if is_imagined(machine, receiver) else UNWRITTEN)
    return outcomes


def _may_be_left_out(machine: Machine, definition: ast.AST) -> bool:
    """Whether a call is left out if it is refused: not that of the entry point, nor where a handler may be for it."""
    is_inner = machine.context.depth > 0 and definition is not machine.unit.function
    return machine.unit.leaves_out_refused and is_inner and not machine.handlers_around


@cached_on_node
def makes_function(definition: ast.AST) -> bool:
    """Whether a function defines another one in it: what comes of that depends on what it will be given."""
    body = definition.body if isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
    return any(isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) for node in body for each in walk(node))


def _yields(definition: ast.AST) -> bool:
    return syntactic_summary(definition).yields


def tells_nothing_new(machine: Machine, state: State, definition: ast.AST, given: tuple[Value, ...]) -> bool:
    """Whether a function need not run inside itself once more: it is as deep as it may be, or what it is given now is
    unknown or what it was given before. The outer run has already shown what it does with such data.

        def flat(tree): return [leaf for branch in tree for leaf in flat(branch)]   # branch is as unknown as tree
    """
    inside = [given for node, given in machine.context.call_stack if node is definition]
    if not inside or len(inside) >= machine.limits.recursion:
        return bool(inside)
    return any(_is_unknown(state, value) for value in given) and all(
        _is_unknown(state, value) or value in inside[-1] for value in given
    )


def _is_unknown(state: State, value: Value) -> bool:
    """Whether nothing is known of a value, or only that it is taken to keep a graph."""
    return isinstance(value, Unknown) or isinstance(value, TensorRef) and bool(state.tensors[value.id].assumption)


def _return(state: State, value: Value) -> None:
    state.completion = Return(value)


def choose(machine: Machine, state: State, outcomes: list[State], key: object) -> Value:
    """Go on with one outcome of a call; the others are queued in the memo of the running statement."""
    first = _first_of(state, outcomes, key)
    others = [out for out in outcomes if out is not first]
    results = [result_of(out) for out in (first, *others)]
    if key is None:
        machine.drop(len(others), DropReason.ONE_OUTCOME)
    else:
        if others and machine.observer is not None:
            machine.observer.decide(Outcomes(state, first, tuple(others)))
        for out, result in zip(others, results[1:]):
            machine.memo.fork(out, key, result)
    if first is not state:
        state.become(first)
    if isinstance(results[0], ProgramRaised):
        if key is not None and others:
            machine.memo.values[key] = results[0]  # type: ignore[index]
        raise results[0]
    return results[0]


def _first_of(state: State, outcomes: list[State], key: object) -> State:
    """The outcome to go on with: the caller's own path, or one that returns where only one can be gone on with."""
    first = next((out for out in outcomes if out is state), outcomes[0])
    if key is None:
        return min((first, *outcomes), key=_unusual)
    return first


def _unusual(out: State) -> tuple[bool, bool, bool]:
    """Sorts outcomes: a program usually goes on, with its options at their defaults, and with something to go on with:
    ``if handle not in handles: return`` leaves early.
    """
    returns_nothing = out.completion is None or isinstance(out.completion, Return) and out.completion.value == NONE
    return isinstance(out.completion, Raise), bool(out.supposed), returns_nothing


def result_of(out: State) -> Value | ProgramRaised:
    """What a call has returned or raised on a path, which goes on from there."""
    completion, out.completion = out.completion, None
    match completion:
        case Return(value):
            return value
        case Raise(error):
            return error
    return NONE


def run_generator(machine: Machine, state: State, generator: Generator, consumer: Consumer) -> list[State]:
    """Run a generator's body, handing each value to ``consumer(state, value) -> states``; the states after it is
    exhausted.

    The consumer runs in the scope of the loop. If it leaves the loop (break, return, raise) the generator is
    unwound.
    """
    function = generator.function
    assert function is not None
    outer = state.frame

    def yielded(inner: State, value: Value) -> list[State]:
        frame, calls = inner.frame, inner.calls
        inner.frame = outer
        running = context.call_stack.pop()
        try:
            results = consumer(inner, value)
        finally:
            context.call_stack.append(running)
        for out in results:
            if out.completion is None or isinstance(out.completion, Continue):
                out.completion = None
                out.frame, out.calls = frame, calls
            else:
                out.completion = Unwind(out.completion)
        return results

    state.frame = generator.frame
    machine.unit.called.add(function.node)
    machine.unit.dependencies.add(function.node)
    assert not isinstance(function.node, ast.Lambda), "only a definition makes a generator"
    context, states = machine.context, [state]
    given = tuple(state.get(generator.frame, Frame).variables.values())
    context.consumers.append(yielded)
    context.call_stack.append((function.node, given))
    context.depth += 1
    try:
        if context.depth < machine.limits.call_depth:
            states = machine.block(function.node.body, states)
    finally:
        context.depth -= 1
        context.call_stack.pop()
        context.consumers.pop()
    for out in states:
        out.frame = outer
        if isinstance(out.completion, Unwind):
            out.completion = out.completion.completion
        elif isinstance(out.completion, Return):
            out.completion = None
    return states


def drained(machine: Machine, state: State, value: Value, limit: int, key: object = None) -> Value:
    """What is left of the result of a call: a generator is asked for its first values."""
    if not isinstance(value, Generator) or value.function is None:
        return value
    count = state.new(Sequence("list", []))  # one item for each value, on the heap, so that every path has its own

    def consume(path: State, item: Value) -> list[State]:
        path.edit(count, Sequence).items.append(NONE)
        if len(path.get(count, Sequence).items) >= limit:
            path.completion = Break()
        return [path]

    outcomes = run_generator(machine, state, value, consume)
    for path in outcomes:
        if isinstance(path.completion, Break):
            path.completion = None
    return choose(machine, state, outcomes, key)


def collect(machine: Machine, state: State, generator: Generator, iterations: int | None = None) -> Items:
    """The first values of a generator, run to completion at once."""
    limits = machine.limits
    iterations = limits.unroll if iterations is None else iterations
    if isinstance(generator.node, ast.GeneratorExp):
        scope = generator.frame
        if scope not in state.heap:  # the function around it has ended, and some object holds it
            return Items([], False)
        source = state.get(scope, Frame).variables[SOURCE]
        return comprehend(machine, state, generator.node.generators, [generator.node.elt], iterations, scope, source)
    limit = max(iterations, limits.generator_items)
    kept = state.new(Sequence("list", []))  # on the heap, so that every path has its own

    def keep(inner: State, value: Value) -> list[State]:
        if len(inner.get(kept, Sequence).items) >= limit:
            inner.completion = Break()
        else:
            inner.edit(kept, Sequence).items.append(value)
        return [inner]

    machine.context.call_stack.append((generator.node.args, (HeapRef(kept),)))  # type: ignore[attr-defined]  # who collects holds it
    try:
        outcomes = run_generator(machine, state, generator, keep)
    finally:
        machine.context.call_stack.pop()
    first = outcomes[0]
    if isinstance(first.completion, Break):
        first.completion = None
    if first is not state:
        state.become(first)
    machine.drop(len(outcomes) - 1, DropReason.ONE_OUTCOME)
    if isinstance(state.completion, Raise):
        error, state.completion = state.completion.error, None
        raise error
    found = state.get(kept, Sequence).items
    del state.heap[kept]
    return Items(found, len(found) < limit)


def make_lambda(machine: Machine, node: ast.Lambda, state: State, key: object) -> Value:
    return make_function(machine, state, node, state.frame, None)


EXPRESSIONS[ast.Lambda] = make_lambda
