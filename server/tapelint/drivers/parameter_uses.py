"""What a program does with a parameter: what it asks it for, whether it walks what it returns, to whom it hands it on.

    def main(model, optimizer, batches):
        for batch in batches:
            update(model, optimizer, batch)      there `model` is called and `optimizer` steps

    class Loss:
        def __init__(self, device, G, D):
            self.G, self.D = G, D                kept as an attribute, it is used as that is:
        def run(self, z):
            return self.D(self.G(z))             `G` is called

    def cosine(a, b):
        a = a / torch.norm(a)                    a tensor, by what an op of PyTorch takes, and sends a gradient to
        return a[b]                              `b` is an index, which never has a gradient

Only what is passed unchanged counts as handed on, and only to what is known by name where it is called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from .. import ops
from ..domain.mro import is_module, lookup_in_mro, mro_of, own_function
from ..domain.state import State
from ..domain.values import Class, External, Function, HeapRef, Value
from ..engine.machine import Machine
from ..engine.syntax.asked import GONE_THROUGH, OF_NETWORKS, OF_OPTIMIZERS, asked_of_attributes, asked_of_variables
from ..engine.syntax.syntactic_summary import syntactic_summary
from ..engine.syntax.walked_results import fed_calls, walked_attributes, walked_calls, walked_parameters
from ..frozen import frozen
from ..models.frameworks.training_loops import walked_results
from ..models.torch.registry import TENSOR_METHODS
from ..source import Definition, cached_on_node, dotted, own_attribute, walk, written
from .annotations import is_tensor, looked_up
from .attribute_flow import method_flow

WALKED = "backward()"
"""The use of what is called, if the program goes backward through what comes out."""
FED = "backward() of data"
"""The same, where it was given only what no call has returned: the graph begins there."""
INDEX, INVERTED, SLICED = "[]", "~", "[:,:]"
"""The use of an index, of what `~` or `not` is asked of, and of what an own layer is given a slice of."""
BASE = "super().__init__"

SHARED = frozenset(
    "add all any apply argmax argmin argsort astype backward bfloat16 clip conj copy count cpu cuda "
    "cumprod cumsum data device diagonal dot double dtype entropy eval expand fill flatten float get half "
    "imag index insert item items itemsize keys log log_prob map max mean min mT nbytes ndim nonzero "
    "partition pop prod put ravel real register_hook remove repeat replace requires_grad_ reshape resize "
    "reverse round rsample sample shape size sort split squeeze std sub sum swapaxes T take to tolist "
    "trace transpose type update values var view".split()
)
"""Methods of tensors that arrays, lists, dicts, texts, modules or distributions have too."""
WHOLE = frozenset((INDEX, INVERTED, "range", "long", "int", "bool", "byte", "short"))
"""Uses of what has no gradient, and conversions to it."""


@frozen
class Parameter:
    """Asks a function for the name of its parameter that takes an argument at ``position``, or of that keyword;
    ``bound`` are those before it that a method is given otherwise. None where there is none.
    """

    position: int | str
    bound: int

    def __call__(self, function: ast.AST) -> str | None:
        if not isinstance(function, Definition):
            return None
        spec = function.args
        names = [parameter.arg for parameter in (*spec.posonlyargs, *spec.args)][self.bound :]
        if isinstance(self.position, str):
            named = [*names, *(parameter.arg for parameter in spec.kwonlyargs)]
            return self.position if self.position in named else None
        return names[self.position] if self.position < len(names) else None


@frozen
class HandedOn:
    """A variable, or an attribute of ``self`` (``is_attribute``), is an argument of a call of the dotted name
    ``callee``. ``position`` is its place among the arguments, or its keyword.
    """

    callee: str
    position: int | str
    name: str
    is_attribute: bool

    def parameter(self, machine: Machine, callee: Function, bound: int) -> str | None:
        """The parameter of the callee that takes it, after those that are ``bound``."""
        return machine.query(Parameter(self.position, bound), callee.node)


@cached_on_node
def bound_variables(scope: ast.AST) -> frozenset[str]:
    """The variables that a function assigns."""
    names = (node for node in walk(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return frozenset(node.id for node in names)


@cached_on_node
def handed_on(scope: ast.AST) -> tuple[HandedOn, ...]:
    """What the calls in a function or a class are given by name."""
    calls = (node for node in walk(scope) if isinstance(node, ast.Call))
    return tuple(found for call in calls for found in _given(call))


def _given(call: ast.Call) -> Iterator[HandedOn]:
    """What a call is given by name, up to ``*args``."""
    first = next((index for index, each in enumerate(call.args) if isinstance(each, ast.Starred)), None)
    given: list[tuple[int | str, ast.expr]] = [*enumerate(call.args[:first])]
    given += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None]
    for place, value in given:
        attribute = own_attribute(value)
        if attribute is not None or isinstance(value, ast.Name):
            name = attribute if attribute is not None else getattr(value, "id", "")
            yield HandedOn(written(call.func), place, name, attribute is not None)


def parameters(function: Function) -> list[ast.arg]:
    """All that a function names of its arguments."""
    spec = function.node.args
    return [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]


# What it is asked for


def uses_of(machine: Machine, state: State, function: Function, kind: HeapRef | None) -> dict[str, set[str]]:
    """For each name in a function the attributes it is asked for, ``()`` if it is called, and ``WALKED`` if what comes
    out is walked; for what an ``__init__`` keeps, by its class as well.
    """
    found = {name: set(used) for name, used in machine.query(_own_uses, function.node).items()}
    own = state.heap[function.owner] if function.owner is not None else None
    walked = machine.query(walked_parameters, own.node) if isinstance(own, Class) else frozenset()
    for name in (each.arg for each in parameters(function)):
        more = {*_uses_by_others(machine, state, function, name, machine.limits.handed_on)}
        more |= {"()", WALKED} if (getattr(function.node, "name", ""), name) in walked else set()
        found.setdefault(name, set()).update(more)
    if function.owner is not None and getattr(function.node, "name", "") == "__init__":
        kind = kind or HeapRef(function.owner)
        _add_uses_by_methods(machine, state, kind, function, found)
        _add_uses_by_base(machine, state, function, kind, found)
    return found


@cached_on_node
def _own_uses(scope: ast.AST) -> dict[str, set[str]]:
    """How a function itself uses names: ``WALKED`` and ``FED``, ``INDEX`` and ``INVERTED`` are among the uses."""
    found = {name: set(used) for name, used in syntactic_summary(scope).uses.items()}
    for name, used in asked_of_variables(scope).items():
        found.setdefault(name, set()).update(used & {GONE_THROUGH})
    fed = fed_calls(scope)
    for name in walked_calls(scope):
        found.setdefault(name, set()).update({WALKED, FED} if name in fed else {WALKED})
    for variable, use in (each for node in walk(scope) for each in _uses_in(node)):
        found.setdefault(variable.id, set()).add(use)
    for node in walk(scope):
        match node:
            case ast.Assign([ast.Name(other)], ast.Name(name)) if other in found:
                found.setdefault(name, set()).update(found[other])
    return found


def _uses_in(node: ast.AST) -> Iterator[tuple[ast.Name, str]]:
    """The names that a node uses as ``INDEX``, ``INVERTED`` or ``SLICED``."""
    match node:
        case ast.Subscript(slice=index):
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            yield from ((part, INDEX) for part in parts if isinstance(part, ast.Name))
        case ast.Call(ast.Attribute(ast.Name("self")), given):
            yield from ((name, SLICED) for each in given if (name := _sliced(each)) is not None)
        case ast.UnaryOp(ast.Invert() | ast.Not(), ast.Name() as name):
            yield name, INVERTED


def _sliced(node: ast.expr) -> ast.Name | None:
    """The name in ``x[:, 1:3]``."""
    match node:
        case ast.Subscript(ast.Name() as name, ast.Tuple(parts)) if any(isinstance(part, ast.Slice) for part in parts):
            return name
    return None


@cached_on_node
def _uses_of_given(scope: ast.AST) -> dict[str, set[str]]:
    """What the uses of its parameters say of those that hand them on: not that something is called and nothing else."""
    known = {WALKED, *OF_NETWORKS}
    return {name: used if used & known else used - {"()"} for name, used in _own_uses(scope).items()}


def _uses_by_others(machine: Machine, state: State, function: Function, name: str, depth: int) -> Iterator[str]:
    """How the functions use a variable that ``function`` hands it on to."""
    for callee, parameter in receiving(machine, state, function, name) if depth else ():
        yield from machine.query(_uses_of_given, callee.node).get(parameter, ())
        if callee.node is not function.node:
            yield from _uses_by_others(machine, state, callee, parameter, depth - 1)


def receiving(machine: Machine, state: State, function: Function, name: str) -> Iterator[tuple[Function, str]]:
    """The functions of the program that ``function`` hands its variable ``name`` on to, each with their parameter."""
    for call in machine.query(handed_on, function.node):
        if call.name != name or call.is_attribute or not call.callee.isidentifier():
            continue
        callee = looked_up(machine, state, function.frame, call.callee)
        if isinstance(callee, Function):
            parameter = call.parameter(machine, callee, 0)
            if parameter is not None:
                yield callee, parameter


def _add_uses_by_base(
    machine: Machine, state: State, init: Function, kind: HeapRef, found: dict[str, set[str]]
) -> None:
    """Add to ``found`` how the class uses what an ``__init__`` hands on to that of the next base."""
    uses = dict[str, set[str]]()
    for base, name, parameter in handed_to_base(machine, state, init, kind):
        uses = uses or uses_of(machine, state, base, kind)
        found.setdefault(name, set()).update(uses.get(parameter, ()))


def handed_to_base(
    machine: Machine, state: State, init: Function, kind: HeapRef
) -> Iterator[tuple[Function, str, str]]:
    """What an ``__init__`` hands on to that of the next base: that method, the variable and the parameter there."""
    handed = [each for each in machine.query(handed_on, init.node) if each.callee == BASE and not each.is_attribute]
    after = None if init.owner is None else HeapRef(init.owner)
    found = lookup_in_mro(state, kind, "__init__", after) if handed else None
    base = None if found is None else found[1]
    for call in handed:
        if isinstance(base, Function) and (parameter := call.parameter(machine, base, 1)) is not None:
            yield base, call.name, parameter


def _add_uses_by_methods(
    machine: Machine, state: State, kind: HeapRef, init: Function, found: dict[str, set[str]]
) -> None:
    """Add to ``found`` how methods of a class use the attributes that parameters of its ``__init__`` are kept as."""
    kept = machine.query(method_flow, init.node).kept
    results = walked_results(machine, state, kind) if kept else ()
    owners = (state.heap[owner.id] for owner in mro_of(state, kind) if isinstance(owner, HeapRef)) if kept else ()
    for owner in owners:
        uses = _uses_by_class(machine, state, kind, owner.node, results) if isinstance(owner, Class) else {}
        for attribute in uses.keys() & kept.keys():
            for name in filter(None, kept[attribute]):
                found.setdefault(name, set()).update(uses[attribute])


def _uses_by_class(
    machine: Machine, state: State, kind: HeapRef, owner: ast.ClassDef, results: Iterable[str]
) -> dict[str, set[str]]:
    """How a class uses attributes of an object of ``kind``, which walks the ``results`` of these methods."""
    uses = {name: set(used) for name, used in machine.query(asked_of_attributes, owner).items()}
    for attribute, more in _uses_by_own_methods(machine, state, kind, owner):
        uses.setdefault(attribute, set()).update(more)
    by_method = machine.query(walked_attributes, owner)
    for walked in (by_method[name] for name in ("", *results) if name in by_method):
        for attribute in walked.called & uses.keys():
            uses[attribute].add(WALKED)
        for attribute in walked.fed & uses.keys():
            uses[attribute].add(FED)
    return uses


def _uses_by_own_methods(
    machine: Machine, state: State, kind: HeapRef, owner: ast.ClassDef
) -> Iterator[tuple[str, set[str]]]:
    """How methods use the attributes that they are given by methods of the class ``owner``, or one derived from it."""
    for call in machine.query(handed_on, owner):
        function = _own_method(state, kind, call.callee) if call.is_attribute else None
        if function is not None:
            parameter = call.parameter(machine, function, int(function.kind != "static"))
            if parameter is not None:
                yield call.name, machine.query(_uses_of_given, function.node).get(parameter, set())


def _own_method(state: State, kind: Value, callee: str) -> Function | None:
    """The method of a class that ``self.name`` is."""
    owner, _, name = callee.rpartition(".")
    return own_function(state, kind, name) if owner == "self" else None


# Whether it is a parameter of a network


@cached_on_node
def _alternatives(tree: ast.AST) -> dict[object, frozenset[str]]:
    """The dotted names that stand side by side: in a dict, a list or a conditional expression, or as the same argument
    of calls of one name, which is the key with the position.
    """
    found: dict[object, set[str]] = {}
    for node in walk(tree):
        match node:
            case ast.Dict(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
                found[node] = {dotted(part) for part in parts}
            case ast.IfExp(body=body, orelse=other):
                found[node] = {dotted(body), dotted(other)}
            case ast.Call(func=ast.Name(callee), args=given):
                for position, each in enumerate(given):
                    found.setdefault((callee, position), set()).add(dotted(each))
    return {place: frozenset(names) for place, names in found.items() if len(names) > 1}


def initializes(machine: Machine, state: State, function: Function) -> bool:
    """Whether a function stands beside those of torch.nn.init, which are given parameters of networks: in a table of
    initializers, or where a function or a class of the program is given either.
    """
    name = getattr(function.node, "name", "")
    if looked_up(machine, state, function.frame, name) != function:
        return False
    for place, names in machine.query(_alternatives, machine.tree).items():
        taker = looked_up(machine, state, function.frame, place[0]) if isinstance(place, tuple) else function
        if name in names and isinstance(taker, (Function, HeapRef)):
            if any(_is_of_torch_init(machine, state, function, other) for other in names):
                return True
    return False


def _is_of_torch_init(machine: Machine, state: State, function: Function, dotted: str) -> bool:
    """Whether a name means a function of torch.nn.init that writes to what it is given."""
    name, dot, rest = dotted.partition(".")
    root = looked_up(machine, state, function.frame, name) if name else None
    full = f"{root.name}{dot}{rest}" if isinstance(root, External) else ""
    return full.startswith("torch.nn.init.") and full.endswith("_")


# Whether it is a tensor


def tensor_parameters(
    machine: Machine, state: State, function: Function, kind: Value | None = None, depth: int | None = None
) -> list[str]:
    """The parameters that are tensors of numbers, in their order; of a method of an object of the class ``kind``."""
    depth = machine.limits.handed_on if depth is None else depth
    tensors, whole = _used_as(machine, state, function, kind, depth)
    tensors -= {a.arg for a in parameters(function) if a.annotation is not None}
    tensors |= {a.arg for a in parameters(function) if is_tensor(a.annotation)}
    return [a.arg for a in parameters(function) if a.arg in tensors - whole]


def possible_tensors(machine: Machine, state: State, function: Function, kind: Value | None) -> list[str]:
    """The parameters that may be tensors of numbers: those that are, and those of which neither an annotation nor a use
    says anything else.
    """
    _, whole = _used_as(machine, state, function, kind, machine.limits.handed_on)
    possible = [a for a in parameters(function) if a.annotation is None or is_tensor(a.annotation)]
    return [a.arg for a in possible if a.arg not in whole]


def _used_as(
    machine: Machine, state: State, function: Function, kind: Value | None, depth: int
) -> tuple[set[str], set[str]]:
    """The parameters that are used as tensors of numbers are, and those that are used as indices and the like are."""
    tensors, whole = set[str](), set[str]()
    shared = SHARED | WHOLE
    if kind is None or not is_module(state, kind):
        shared |= {SLICED}
    for name, uses in machine.query(_own_uses, function.node).items():
        tensors |= {name} if any(map(_is_of_tensors, uses - shared)) else set()
        whole |= {name} if uses & WHOLE else set()
    for call in machine.query(handed_on, function.node):
        flows = _takes_gradient(machine, state, function, call)
        if flows is None and kind is not None and depth:
            flows = _is_given_as_tensor(machine, state, kind, call, depth - 1) or None
        if flows is not None and not call.is_attribute:
            (tensors if flows else whole).add(call.name)
    names = {each.arg for each in parameters(function)}
    return tensors & names, whole & names


def _is_given_as_tensor(machine: Machine, state: State, kind: Value, call: HandedOn, depth: int) -> bool:
    """Whether a method of the object takes an argument as a tensor of numbers."""
    method = _own_method(state, kind, call.callee)
    if method is None or method.kind:
        return False
    return call.parameter(machine, method, 1) in tensor_parameters(machine, state, method, kind, depth)


def _is_of_tensors(use: str) -> bool:
    """Whether something is asked of tensors, and of nothing else but what shares it with them."""
    return use == SLICED or use in TENSOR_METHODS or bool(ops.candidates(use))


def _takes_gradient(machine: Machine, state: State, function: Function, call: HandedOn) -> bool | None:
    """Whether an op of PyTorch sends a gradient to an argument; None where that is no tensor, or the callee no op."""
    name, dot, rest = call.callee.partition(".")
    root = looked_up(machine, state, function.frame, name) if name.isidentifier() else None
    row = ops.op_name(f"{root.name}{dot}{rest}") if isinstance(root, External) else None
    found = ops.candidates(row) if row is not None else ()
    place = call.position
    taken = [op.slots[place] for op in found if isinstance(place, int) and place < len(op.slots)]
    if not taken or any(not each.kind.startswith(("tensor", "matrix", "3d")) for each in taken):
        return None
    if taken[0].name in ("target", "tensors"):
        return None
    flows = frozenset[str]().union(*(op.flows for op in found))
    return taken[0].name in flows if flows else None  # `torch.zeros_like(x)` takes any tensor


def is_optimizer(uses: set[str]) -> bool:
    """Whether a program uses something as an optimizer."""
    return {"step", "zero_grad"} <= uses and "()" not in uses


def only_stepped(
    machine: Machine, state: State, function: Function, making: HeapRef | None, arguments: dict[str, set[str]]
) -> str | None:
    """The argument that is the optimizer of a function that trains a network, though nobody clears with it: nothing is
    asked of it but what optimizers have, ``step()`` gives nothing and takes nothing, and it is the only one that is
    stepped, or the first one after a backward: schedules are stepped behind it.
    """
    trained = any({"()", WALKED} <= uses or GONE_THROUGH in uses for uses in arguments.values())
    if any(map(is_optimizer, arguments.values())) or not trained:
        return None
    found = [name for name, used in arguments.items() if "step" in used]
    wanted = _stepped_plainly if len(found) == 1 else _stepped_first
    for name in found:
        scopes, names = _kept_in(machine, state, function, making, name)
        stepped = frozenset[str]().union(*(machine.query(wanted, scope) for scope in scopes))
        if arguments[name] <= OF_OPTIMIZERS and not names.isdisjoint(stepped):
            return name
    return None


def _kept_in(
    machine: Machine, state: State, function: Function, making: HeapRef | None, name: str
) -> tuple[list[ast.AST], set[str]]:
    """Where a parameter is used, and under which names: one of an ``__init__`` in the class that it makes an object of
    and its bases, as attributes.
    """
    if function.owner is None or getattr(function.node, "name", "") != "__init__":
        return [function.node], {name}
    kept = machine.query(method_flow, function.node).kept
    order = (
        state.heap[kind.id] for kind in mro_of(state, making or HeapRef(function.owner)) if isinstance(kind, HeapRef)
    )
    owners: list[ast.AST] = [owner.node for owner in order if isinstance(owner, Class)]
    return owners, {f"self.{attribute}" for attribute, names in kept.items() if name in names}


@cached_on_node
def _stepped_plainly(scope: ast.AST) -> frozenset[str]:
    """The names, and the attributes of ``self``, of which some code calls ``step()`` as a statement, without arguments,
    and nowhere otherwise.
    """
    plain, asked = list[str](), list[str]()
    for node in walk(scope):
        plain += filter(None, [_plain_step(node)])
        if isinstance(node, ast.Attribute) and node.attr == "step":
            asked.append(dotted(node.value))
    return frozenset(name for name in plain if plain.count(name) == asked.count(name))


def _plain_step(node: ast.AST) -> str | None:
    """Of what a statement calls ``step()``, if it does nothing else."""
    match node:
        case ast.Expr(ast.Call(ast.Attribute(owner, "step"), [], [])):
            return dotted(owner)
    return None


@cached_on_node
def _stepped_first(scope: ast.AST) -> frozenset[str]:
    """The one of these that is stepped first behind each backward; none where they differ."""
    first = set[str]()
    for body in (part for node in walk(scope) for part in (getattr(node, "body", None), getattr(node, "orelse", None))):
        if not isinstance(body, list):
            continue
        for number in (n for n, statement in enumerate(body, 1) if _goes_backward(statement)):
            behind = (_plain_step(node) for statement in body[number:] for node in walk(statement))
            first.update([name for name in behind if name][:1])
    return _stepped_plainly(scope) & first if len(first) == 1 else frozenset()


def _goes_backward(statement: ast.stmt) -> bool:
    """Whether a statement is a call of ``backward``."""
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(attr="backward"))):
            return True
    return False
