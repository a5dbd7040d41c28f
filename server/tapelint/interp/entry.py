"""Where execution starts: the module as a script, then every function that nothing called.

A function without a caller gets parameters inferred from its annotations, its defaults and how it uses them: what is
stepped and zeroed is an optimizer, what has ``parameters()`` or is called with data is a network, what is iterated
yields data.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import partial

from ..source import may_use_torch
from ..tape import Refused, State, backward, current, gradients
from . import growth
from .assign import tensors_in
from .calls import call_value
from .cells import Ran, run_again, run_cells
from .classes import is_module
from .frameworks import WALKED, loss_in, walk_of
from .functions import call_function
from .gradients import between_calls
from .machine import BudgetSpent, Cancelled, Machine, Raised
from .outline import outline
from .values import (
    TRUE,
    Bound,
    Class,
    Const,
    Frame,
    Function,
    Instance,
    Mapping,
    Optimizer,
    Ref,
    Sequence,
    Unknown,
    Value,
)

FRESH = 20_000
"""Steps for each function that nothing calls."""
TOGETHER = 60_000
"""Steps for all of them; those that reach backward come first, then ``forward`` methods."""

DRIVER = 10_000
"""Steps for the script, and for all functions together, of a file that only others make use PyTorch."""


def execute(m: Machine) -> None:
    """Run the whole file. A fault in one entry point never keeps the others from running."""
    state = State()
    state.frame = state.new(Frame({"__name__": Const("__main__"), "__file__": Unknown("__file__", False)}, 0, 0))
    state.heap[state.frame].module = state.frame
    module = state.frame
    together = TOGETHER
    if m.imports is not None:
        m.imports.adopt(module)
        if not may_use_torch(m.imports.main.text):
            m.limit = together = DRIVER
    ran: list[Ran] = []
    states = _entered(m, [state], lambda: run_cells(m, state, ran) if m.cells else m.block(m.tree.body, [state]))
    finished = next((s for s in states if s.signal is None), states[0])
    m.holes.stopped += any(s.signal == "raise" and not s.value.by_torch for s in states)
    for path in states:
        if path.signal is None:
            growth.tell(m, path, ())
    _complete(m, finished, module)
    end = m.steps + together
    objects = Objects(m, finished)
    for function, owner in sorted(uncalled(m, finished, module), key=urgency):
        if function.node in m.called:
            continue
        if m.steps >= end:
            m.holes.entries += 1
            m.holes.spent += 1
            continue
        m.limit = min(m.steps + FRESH, end)
        ends = _entered(m, [], partial(_drive, m, objects, function, owner))
        m.holes.stopped += any(s.signal == "raise" and not s.value.by_torch for s in ends)
    run_again(m, ran, partial(_entered, m, []))
    _count(m)


def _count(m: Machine) -> None:
    """How far the walks and the ``forward`` methods of the file came."""
    own = "" if m.imports is None else m.imports.main.path
    here = [rooted for (path, *_), rooted in m.walks.items() if path == own]
    m.holes.walks, m.holes.rooted = len(here), sum(here)
    for statement in m.tree.body:
        for method in statement.body if isinstance(statement, ast.ClassDef) else ():
            if isinstance(method, ast.FunctionDef) and method.name == "forward":
                m.holes.forwards += 1
                m.holes.ended += method in m.ended


def urgency(entry: tuple[Function, Ref | None]) -> int:
    """What is most likely to hold a hazard runs first, as long as the budget lasts."""
    function = entry[0].node
    if outline(function).backward or getattr(function, "name", "") in WALKED:
        return 0
    return 1 if getattr(function, "name", "") == "forward" else 2


def _entered(m: Machine, states: list[State], run: object) -> list[State]:
    m.holes.entries += 1
    m.depth = 0
    m.running = []
    m.consumers = []
    try:
        return run() or states  # type: ignore[operator]
    except Cancelled:
        raise
    except (BudgetSpent, RecursionError):
        m.holes.spent += 1
    except Raised:
        pass
    except Exception:
        m.holes.faults += 1
        import logging

        logging.getLogger("tapelint").debug("fault in an entry point", exc_info=True)
    return states


def _complete(m: Machine, state: State, module: int) -> None:
    """If the script stopped early, define what stands below: functions may still be analysed."""
    state.frame, state.calls, state.laps = module, (), ()
    state.signal, state.value = None, None
    state.grad_mode, state.inference = True, False
    for statement in m.tree.body:
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
            continue
        if not _bound(statement, state.heap[module].variables):
            try:
                m.limit = m.steps + 5_000
                m.statement(statement, state)
            except (BudgetSpent, RecursionError, Raised):
                continue
            state.signal, state.value = None, None


def _bound(statement: ast.stmt, variables: dict[str, Value]) -> bool:
    """Whether a definition or an import has bound its names already."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        names = [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
        return all(name in variables for name in names if name != "*")
    return getattr(statement, "name", None) in variables


def uncalled(m: Machine, state: State, module: int) -> Iterator[tuple[Function, Ref | None]]:
    """Functions of the module, then methods of its classes, that were never run."""

    defined = {statement.name for statement in m.tree.body if isinstance(statement, ast.FunctionDef)}

    def is_own(function: Function) -> bool:
        """Not imported from another file, which is where it is tried out."""
        return state.heap[function.frame].module == module

    for name, value in list(state.heap[module].variables.items()):
        if isinstance(value, Function) and isinstance(value.node, ast.FunctionDef):
            if name in defined or is_own(value):  # or a decorator from another file has wrapped it
                yield value, None
        elif isinstance(value, Ref) and isinstance(thing := state.heap.get(value.id), Class):
            for function in list(thing.attributes.values()):
                if not isinstance(function, Function) or function.owner != value.id or not is_own(function):
                    continue
                if function.node.name != "__init__":
                    yield function, value


class Objects:
    """The objects whose methods run: made once for each class, every method has its own copy of the state after that.

    A class that spends the budget of one entry point on its ``__init__`` is not made again for its other methods.
    """

    def __init__(self, m: Machine, state: State) -> None:
        self.m, self.state = m, state
        self.made: dict[int, tuple[State, Ref] | None] = {}

    def of(self, owner: Ref) -> tuple[State, Ref]:
        """A state of one's own, and the object in it."""
        if owner.id not in self.made:
            self.made[owner.id] = None
            state = self.state.fork()
            self.made[owner.id] = state, make_instance(self.m, state, owner, state.heap[owner.id].node)
        known = self.made[owner.id]
        if known is None:
            raise BudgetSpent
        return known[0].fork(), known[1]


def _drive(m: Machine, objects: Objects, function: Function, owner: Ref | None) -> list[State]:
    """Run one function with inferred arguments; a method on an object made with inferred arguments."""
    args: list[Value] = []
    if owner is None or function.kind in ("static", "class"):
        state = objects.state.fork()
        args += [owner] if owner is not None and function.kind == "class" else []
    else:
        state, instance = objects.of(owner)
        args.append(instance)
    if outline(function.node).yields:
        return [state]
    bound = Bound(function, args[0]) if args else function
    spec = function.node.args
    names = [*spec.posonlyargs, *spec.args][len(args) :]
    given = inferred(m, state, function, names)
    values = {a.arg: given[a.arg] for a in (*names, *spec.kwonlyargs) if a.arg in given}

    forward = function.node.name == "forward" and owner is not None and is_module(state, owner)
    walk = walk_of(state, owner, args[0], function.node.name) if owner is not None and bound is not function else None

    def effect(s: State) -> None:
        result = call_value(m, s, bound, [], dict(values), function.node)
        if forward:
            imagine_backward(m, s, result, function.node)
        elif walk is not None:
            m.holes.backwards += 1
            imagine_backward(m, s, loss_in(s, result), function.node, walk.premise)
            gradients.doubted(s)
        growth.tell(m, s, [result, *args, *values.values(), *s.heap[s.heap[function.frame].module].variables.values()])

    if owner is None or forward:
        return m.explore(state, effect)
    return again_and_again(m, state, function, effect)


def again_and_again(m: Machine, state: State, function: Function, effect: Callable[[State], None]) -> list[State]:
    """A method that reaches backward is called once per step by whoever trains: run it twice on the same object,
    which is the loop its caller would write.
    """
    run, before = m.new_run(), m.holes.backwards
    m.lap(state, function.node, run, 1, 0)
    ended = m.explore(state, effect)
    if m.holes.backwards == before:
        return ended
    results: list[State] = []
    for path in ended:
        if path.signal is None:
            m.lap(path, function.node, run, 2, 0)
            between_calls(m, path, function.node)
            results += m.explore(path, effect)
        else:
            results.append(path)
    return results


def imagine_backward(
    m: Machine, state: State, result: Value, node: ast.AST, assumed: str = "somebody calls backward on the result"
) -> None:
    """Nothing in the file trains this module; somebody will. What its own forward has spoiled raises then."""
    roots = [t for t in tensors_in(state, result) if current(state, t).requires_grad]
    if roots:
        try:
            backward(m.tape, state, roots, node, assumed=assumed)
        except Refused:
            return


def make_instance(m: Machine, state: State, owner: Ref, node: ast.AST) -> Ref:
    """An object of ``owner``, its ``__init__`` run with inferred arguments."""
    from .attributes import find

    instance = Ref(state.new(Instance(owner, {})))
    found = find(state, owner, "__init__")
    if found is not None and isinstance(found[1], Function):
        spec = found[1].node.args
        given = inferred(m, state, found[1], [*spec.posonlyargs, *spec.args][1:])
        try:
            call_function(m, state, found[1], [instance], given, node)
        except Raised:
            state.edit(instance.id).open = True
    elif found is not None:
        state.edit(instance.id).open = True
    state.edit(instance.id).attributes.setdefault("training", TRUE)
    reopen(state, list(state.heap[instance.id].attributes.values()))
    return instance


def reopen(state: State, values: list[Value], depth: int = 3) -> None:
    """Other methods may have filled what ``__init__`` left empty: plain containers may hold more than we saw."""
    for value in values if depth else ():
        if (
            isinstance(value, Ref)
            and isinstance(thing := state.heap[value.id], (Sequence, Mapping))
            and thing.kind in PLAIN_KINDS
        ):
            state.edit(value.id).open = True
            reopen(state, list(thing.items if isinstance(thing, Sequence) else thing.items.values()), depth - 1)


PLAIN_KINDS = ("list", "dict", "set", "deque")


def inferred(m: Machine, state: State, function: Function, parameters: list[ast.arg]) -> dict[str, Value]:
    """Values for parameters nobody gave: by annotation, by default, by use. What has a plain default keeps it, unless
    it is a switch (True, False, None), which may be either.
    """
    uses = outline(function.node).uses
    defaults: dict[str, Value] = {}
    positional = [*function.node.args.posonlyargs, *function.node.args.args]
    for parameter, value in zip(reversed(positional), reversed(function.defaults)):
        defaults[parameter.arg] = value
    defaults.update(function.keyword_defaults)
    values: dict[str, Value] = {}
    for parameter in (*parameters, *function.node.args.kwonlyargs):
        name = parameter.arg
        default = defaults.get(name)
        if default is not None and not is_switch(default):
            continue
        values[name] = _infer(m, state, parameter, uses.get(name, set()), function.node)
    return values


def is_switch(default: Value) -> bool:
    """Whether a default is True, False or None: a caller may well mean the other."""
    return isinstance(default, Const) and (default.value is None or isinstance(default.value, bool))


def _infer(m: Machine, state: State, parameter: ast.arg, uses: set[str], node: ast.AST) -> Value:
    from .library.layers import opaque_module

    annotation = ast.unparse(parameter.annotation) if parameter.annotation is not None else ""
    last = annotation.rpartition(".")[2]
    if (
        last in ("Module", "Sequential")
        or uses & {"parameters", "eval", "train", "state_dict", "zero_grad", "named_parameters"}
        and "()" in uses
    ):
        return opaque_module(m, state, parameter.arg, node)
    if last in ("Optimizer", *OPTIMIZERS) or {"step", "zero_grad"} <= uses and "()" not in uses:
        return Ref(state.new(Optimizer(parameter.arg, [], True)))
    if "()" in uses and not annotation and not SILENT.search(parameter.arg):
        return opaque_module(m, state, parameter.arg, node)
    if last == "Tensor":
        return Unknown("batch", None)
    return Unknown(parameter.arg)


SILENT = re.compile(
    r"transf|proc|augm|tok|encode_|env|load|fn|func|callback|log|metric|crit|loss|reward|sampl|sched|step|collat|eval|get|make|build|act|norm|hook",
    re.I,
)
"""Names of parameters that are called but are hardly networks: nothing is concluded from what they return."""

OPTIMIZERS = ("SGD", "Adam", "AdamW", "RMSprop")
