"""Whose results a piece of code walks: what it calls, and then goes backward through what came out.

    def update(actor, reward, states, opt):
        loss = -(reward(states) * actor(states)).mean()     both go into the loss,
        loss.backward()                                     which is walked: what they return may have a graph
    def show(transform, image):
        plt.imshow(transform(image))                        nothing is walked here

The order of statements is not looked at, nor what is between: a name holds what anything assigned to it was made of.
What was detached or read as a number is left out, and so is what a tensor was made of anew (``torch.tensor(x)``) and
what is given arrays or numbers of tensors somewhere: networks are given tensors.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import TypeGuard

from ...frozen import frozen
from ...ops.conversions import ELEMENTS
from ...ops.torch_attributes import CUTS, NUMBERS, of_objects
from ...source import Definition, cached_on_node, children, dotted, own_attribute, walk

Slot = tuple[str, str]
"""Where a value comes by: a variable of a function (its name, the variable), an attribute of ``self``, the result of a
call of a variable or of an attribute (``x()``), what a method returns, the result of one call (by its place)."""

SELF, RESULT, CALL = "self", "return of", "call"
WALKS = frozenset(("backward", "manual_backward", "grad"))
"""Methods and functions that walk the graphs of what they belong to or are given."""
ENDS = NUMBERS | CUTS
"""What is asked for under these names has no graph."""
TENSOR = "torch.Tensor"
MAKERS = frozenset(("tensor", "from_numpy", "array", *(f"{kind}Tensor" for kind in ELEMENTS)))
"""Functions of PyTorch and NumPy that make something new of data: what they are given is data."""


@cached_on_node
def walked_calls(scope: ast.AST) -> frozenset[str]:
    """The names that a function calls and whose results it walks."""
    sources = _own_sources(scope)
    return _called(sources.walked(sources.ends))


@cached_on_node
def walked_variables(scope: ast.AST) -> frozenset[str]:
    """The variables of a function that go into what it walks."""
    sources = _own_sources(scope)
    return frozenset(name for owner, name in sources.reached(sources.ends) if owner == "")


@cached_on_node
def fed_calls(scope: ast.AST) -> frozenset[str]:
    """Those of the names that a function calls and walks the result of, which it gives nothing there that came out of
    another call.
    """
    sources = _own_sources(scope)
    return _called(sources.fed(sources.walked(sources.ends), sources.made_of_calls()))


@cached_on_node
def _own_sources(scope: ast.AST) -> _Sources:
    """What a function does, with variables of its own alone."""
    sources = _Sources()
    sources.read(scope, "")
    return sources


@cached_on_node
def walked_method_calls(scope: ast.AST) -> Mapping[ast.AST, bool]:
    """Those of ``calls_into_walk`` of methods. Not those that return several things that are used: which of them had a
    graph, and whether they share it, is not known. What a loop goes through holds several, too: a loader of batches, or
    a list of losses.
    """
    read: Sequence[ast.AST] = _methods_of(scope) or [scope]
    several = {node.value for method in read for node in walk(method) if _takes_several(node)}
    found = calls_into_walk(scope).items()
    return {call: near for call, near in found if isinstance(call.func, ast.Attribute) and call not in several}


@cached_on_node
def lone_calls(scope: ast.AST) -> tuple[LoneCall, ...]:
    """The calls by which a function, or the methods of a class, ask one thing for all that they walk.

    loss = agent.loss(batch.to(device)) / len(loader)      `agent.loss`, if nothing else is called for the loss
    loss.backward()
    """
    methods = _methods_of(scope)
    read: Sequence[ast.AST] = methods or [scope]
    sources, calls = _Sources(methods), dict[str, LoneCall]()
    for function in read:
        sources.read(function, getattr(function, "name", ""))
        found = (_lone_call(node, function) for node in walk(function))
        calls.update((each.place, each) for each in found if each is not None)
    apart = {_place(node)[1] for function in read for node in _taken_apart(function)}
    asking = (_lone(sources, walked, calls) for walked in sources.walks)
    whole = (each for each in asking if apart.isdisjoint(call.place for call in each))
    return tuple(call for each in whole for call in each)


def _lone(sources: _Sources, walked: list[Slot], calls: Mapping[str, LoneCall]) -> list[LoneCall]:
    """The calls that all that is ``walked`` comes from, if they are of one thing and nothing else is called for it."""
    slots = sources.reached(walked)
    asking = [calls[name] for owner, name in slots if owner == CALL and name in calls]
    others = (name for name in _called(slots) if name not in sources.methods and not hasattr(builtins, name))
    return asking if len({each.receiver for each in asking}) == 1 and not any(others) else []


@frozen
class LoneCall:
    """A call of a ``method`` that tensors do not have, of a parameter of a function or of an attribute of ``self``, by
    their dotted name, at a ``place`` of the text and with the names ``given``.
    """

    place: str
    receiver: str
    method: str
    given: frozenset[str]


def _lone_call(call: ast.AST, function: ast.AST) -> LoneCall | None:
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    receiver, method = dotted(call.func.value), call.func.attr
    root, _, part = receiver.partition(".")
    is_given = root == SELF and part or root in _parameters(function)
    if not is_given or method in of_objects(TENSOR) | {"scale", *WALKS}:
        return None
    return LoneCall(_place(call)[1], receiver, method, frozenset(map(dotted, call.args)))


def _taken_apart(function: ast.AST) -> Iterator[ast.Call]:
    """The calls whose results are several things: they are unpacked, or asked for an item by its name."""
    items = [node for node in walk(function) if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)]
    named = {getattr(item.value, "id", "") for item in items if isinstance(item.slice, ast.Constant)}
    for node in walk(function):
        match node:
            case ast.Assign([ast.Name(name)], ast.Call() as call) if name in named:
                yield call
            case ast.Assign(_, ast.Call() as call) if _takes_several(node):
                yield call


def _parameters(function: ast.AST) -> set[str]:
    """What a function is given, but for the object that it is a method of."""
    return {node.arg for node in walk(function) if isinstance(node, ast.arg)} - {SELF}


@cached_on_node
def calls_into_walk(scope: ast.AST) -> dict[ast.Call, bool]:
    """The calls whose results a function or the methods of a class walk, and whether a result is more than what others
    are given: the methods of objects, and functions of the program.
    """
    methods = _methods_of(scope)
    read: Sequence[ast.AST] = methods or [scope]
    places, near = (_walked_places(read, _Sources(methods, False, each)) for each in (True, False))
    calls = (node for method in read for node in walk(method) if isinstance(node, ast.Call))
    return {call: place in near for call in calls if (place := _place(call)[1]) in places}


def _walked_places(read: Iterable[ast.AST], sources: _Sources) -> set[str]:
    """The places of the calls whose results some functions walk."""
    for function in read:
        sources.read(function, getattr(function, "name", ""))
    return {slot[1] for slot in sources.reached(sources.ends) if slot[0] == CALL}


def _takes_several(node: ast.AST) -> TypeGuard[ast.Assign]:
    """Whether an assignment unpacks more than one thing that it gives a name."""
    if not isinstance(node, ast.Assign):
        return False
    tuples = [target for target in node.targets if isinstance(target, (ast.Tuple, ast.List))]
    return any(sum(not isinstance(e, ast.Name) or e.id != "_" for e in each.elts) > 1 for each in tuples)


@frozen
class WalkedAttributes:
    """The attributes of ``self`` that methods of a class call and that go into what is walked; ``fed`` are those that
    are given nothing there that came out of a call of another attribute.
    """

    called: frozenset[str]
    fed: frozenset[str]


@cached_on_node
def walked_attributes(owner: ast.AST) -> dict[str, WalkedAttributes]:
    """The attributes of ``self`` that the methods of a class call, and whose results go into what a method returns, by
    the name of the method; under the name ``""`` those whose results the class walks itself.
    """
    methods = _methods_of(owner)
    sources = _Sources(methods)
    for method in methods:
        sources.read(method, method.name)
    found = {"": sources.walked(sources.ends)}
    found |= {method.name: sources.walked([(RESULT, method.name)]) for method in methods}
    made = sources.made_of_calls({(SELF, f"{method.name}()") for method in methods})
    return {
        name: WalkedAttributes(
            _called(slot for slot in slots if slot[0] == SELF),
            _called(slot for slot in sources.fed(slots, made) if slot[0] == SELF),
        )
        for name, slots in found.items()
    }


@cached_on_node
def walked_parameters(owner: ast.AST) -> frozenset[Slot]:
    """The parameters of methods of a class, each with its method, that are called for what the class walks: there, or
    in a method that they are handed on to.
    """
    methods = _methods_of(owner)
    sources = _Sources(methods)
    for method in methods:
        sources.read(method, method.name)
    todo = [slot for slot in sources.walked(sources.ends) if slot[0] in sources.methods and slot[1].endswith("()")]
    found = set[Slot]()
    while todo:
        slot = todo.pop()
        variable = slot[0], slot[1].removesuffix("()")
        if variable not in found:
            found.add(variable)
            todo += (source for source in sources.of.get(variable, ()) if source[0] in sources.methods)
    return frozenset(found)


def _methods_of(scope: ast.AST) -> list[Definition]:
    """The methods of a class; none of a function."""
    return [node for node in scope.body if isinstance(node, Definition)] if isinstance(scope, ast.ClassDef) else []


def _called(slots: Iterable[Slot]) -> frozenset[str]:
    """The names among slots that stand for results of calls."""
    return frozenset(name.removesuffix("()") for _, name in slots if name.endswith("()"))


class _Sources:
    """For each slot those that its value was made of; each of the ``walks`` goes through several, ``calls`` are made
    with what is made of slots. ``methods`` are those of the class that is read: what one is given goes into its
    parameters. An item is made of what holds it, unless not ``through_items``; what a method of an object or a function
    of the program returns is made of its arguments, unless not ``through_arguments``.
    """

    def __init__(
        self, methods: Iterable[Definition] = (), through_items: bool = True, through_arguments: bool = True
    ) -> None:
        self.methods = {method.name: method.args for method in methods}
        self.through_items = through_items
        self.through_arguments = through_arguments
        self.objects: set[str] = {"self"}
        self.of: dict[Slot, set[Slot]] = {}
        self.walks: list[list[Slot]] = []
        self.calls: dict[Slot, tuple[Slot, set[Slot]]] = {}
        self.plain: set[Slot] = set()
        self.given: list[tuple[Slot, ast.expr, str]] = []

    def read(self, scope: ast.AST, name: str) -> None:
        """Take note of what a function does; ``name`` tells its variables from those of others."""
        self.objects |= set() if self.through_arguments else _bound_in(scope)
        statements = {node.value for node in walk(scope) if isinstance(node, ast.Expr)}
        for node in walk(scope):
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
                targets: Sequence[ast.expr] = node.targets if isinstance(node, ast.Assign) else [node.target]
                self.flow(node.value, targets, name)
            elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
                if self.through_items:
                    self.flow(node.iter, [node.target], name)
            elif isinstance(node, ast.Return) and node.value is not None:
                self.of.setdefault((RESULT, name), set()).update(self.made_of(node.value, name))
            elif isinstance(node, ast.Call):
                self.call(node, name, self.through_arguments or node in statements)

    @property
    def ends(self) -> list[Slot]:
        """What is walked anywhere."""
        return [slot for walked in self.walks for slot in walked]

    def call(self, node: ast.Call, name: str, keeps: bool) -> None:
        """Take note of one call in the function ``name``; ``keeps`` says that an object may keep what its method is
        given.
        """
        if (callee := _callee(node, name)) is not None:
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            self.calls[_place(node)] = callee, {slot for value in given for slot in self.made_of(value, name)}
            self.given += [(callee, value, name) for value in node.args]
        if not isinstance(node.func, ast.Attribute):
            return
        if own_attribute(node.func) in self.methods:
            self.hand_over(node, node.func.attr, name)
        elif node.func.attr in WALKS:
            self.walks.append([*self.made_of(node, name)])
        elif keeps:  # losses.append(loss)
            for argument in node.args:
                self.flow(argument, [node.func.value], name)

    def flow(self, value: ast.expr, targets: Sequence[ast.expr], name: str) -> None:
        if _is_plain(value):
            self.plain.update(slot for target in targets for slot in _held_by(target, name))
        made_of = set(self.made_of(value, name))
        for target in targets if made_of else ():
            for slot in _held_by(target, name):
                self.of.setdefault(slot, set()).update(made_of)

    def hand_over(self, node: ast.Call, method: str, name: str) -> None:
        """The parameters of a method are made of what the function ``name`` gives it."""
        spec = self.methods[method]
        names = [parameter.arg for parameter in (*spec.posonlyargs, *spec.args)][1:]
        given = [*zip(names, node.args), *((keyword.arg or "", keyword.value) for keyword in node.keywords)]
        for parameter, value in given:
            self.of.setdefault((method, parameter), set()).update(self.made_of(value, name))

    def made_of(self, value: ast.AST, name: str) -> Iterator[Slot]:
        """The slots that an expression is made of."""
        todo = [value]
        while todo:
            node = todo.pop()
            if isinstance(node, ast.Name):
                yield name, node.id
            elif isinstance(node, ast.Attribute) and node.attr in ENDS:
                continue
            elif (attribute := own_attribute(node)) is not None:
                yield SELF, attribute
            elif isinstance(node, ast.Call):
                if (callee := _callee(node, name)) is not None:
                    yield callee
                    yield _place(node)
                elif isinstance(node.func, ast.Attribute) and node.func.attr not in ENDS | MAKERS:
                    yield _place(node)
                    todo.append(node.func.value)
                if not self.drops_arguments(node.func) and not (callee is None and _is_maker(node.func)):
                    todo += [*node.args, *(keyword.value for keyword in node.keywords)]
            elif not isinstance(node, ast.Lambda):
                todo += children(node)

    def drops_arguments(self, function: ast.expr) -> bool:
        """Whether what a call returns is not made of what it was given."""
        if isinstance(function, ast.Attribute) and function.attr in ENDS:
            return True
        return not self.through_arguments and self.is_of_object(function)

    def is_of_object(self, function: ast.expr) -> bool:
        """Whether a function is called by a name of the program's, or is a method of what a variable holds, or an
        attribute of ``self``; not of a module.
        """
        if isinstance(function, ast.Name):
            return not hasattr(builtins, function.id)
        while isinstance(function, (ast.Attribute, ast.Subscript, ast.Call)):
            function = function.func if isinstance(function, ast.Call) else function.value
        return isinstance(function, ast.Name) and function.id in self.objects

    def walked(self, ends: list[Slot]) -> set[Slot]:
        """The slots that go into ``ends``, without the results of what is given something that is no tensor."""
        others = {callee for callee, value, name in self.given if _is_plain(value) or self.holds_plain(value, name)}
        return self.reached(ends) - others

    def holds_plain(self, value: ast.expr, name: str) -> bool:
        """Whether a variable or an attribute holds what is no tensor, and nothing else is assigned to it."""
        slots = {*_held_by(value, name)}
        return bool(slots) and slots <= self.plain and slots.isdisjoint(self.of)

    def fed(self, walked: set[Slot], made_of_calls: Set[Slot]) -> set[Slot]:
        """What is called for a result that is ``walked``, and given nothing that is ``made_of_calls``."""
        calls = [self.calls[slot] for slot in walked if slot in self.calls]
        return {callee for callee, given in calls if made_of_calls.isdisjoint(given)}

    def made_of_calls(self, own: Set[Slot] = frozenset()) -> set[Slot]:
        """All slots that something goes into that came out of a call; what the methods ``own`` return is looked into.
        The same paths as those of ``reached``, the other way, and all at once.
        """
        given = (slot for _, slots in self.calls.values() for slot in slots)
        known = {*self.of, *given, *(slot for sources in self.of.values() for slot in sources)}
        results = [slot for slot in known if slot[1].endswith("()")]
        into: dict[Slot, list[Slot]] = {}
        for slot, sources in self.of.items():
            for source in sources:
                into.setdefault(source, []).append(slot)
        for slot in results:
            if slot[0] == SELF:
                into.setdefault((RESULT, slot[1].removesuffix("()")), []).append(slot)
        found: set[Slot] = set()
        todo = [slot for slot in results if slot not in own]
        while todo:
            if (slot := todo.pop()) not in found:
                found.add(slot)
                todo += into.get(slot, ())
        return found

    def reached(self, ends: list[Slot]) -> set[Slot]:
        """All slots that go into ``ends``."""
        found: set[Slot] = set()
        todo = list(ends)
        while todo:
            slot = todo.pop()
            if slot not in found:
                found.add(slot)
                todo += self.of.get(slot, ())
                if slot[0] == SELF and slot[1].endswith("()"):
                    todo.append((RESULT, slot[1].removesuffix("()")))
        return found


def _is_maker(function: ast.expr) -> bool:
    """Whether a function of a module makes something new of data."""
    return isinstance(function, ast.Attribute) and function.attr in MAKERS and isinstance(function.value, ast.Name)


def _is_plain(value: ast.expr) -> bool:
    """Whether an expression gives what is no tensor: the array or the numbers of one."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return value.func.attr in NUMBERS and not value.args
    return False


def _bound_in(scope: ast.AST) -> set[str]:
    """The parameters and variables of a function."""
    names = (node for node in walk(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return {node.id for node in names} | {node.arg for node in walk(scope) if isinstance(node, ast.arg)}


def _callee(node: ast.Call, name: str) -> Slot | None:
    """The slot of what calls of a variable or of an attribute of ``self`` return."""
    if isinstance(node.func, ast.Name):
        return name, f"{node.func.id}()"
    attribute = own_attribute(node.func)
    return (SELF, f"{attribute}()") if attribute is not None else None


def _place(node: ast.Call) -> Slot:
    """The slot of what one call returns."""
    return CALL, f"{node.lineno}:{node.col_offset}:{node.end_col_offset}"


def _held_by(target: ast.expr, name: str) -> Iterator[Slot]:
    """The slots that an assignment to ``target`` fills."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for item in target.elts:
            yield from _held_by(item, name)
    elif isinstance(target, ast.Name):
        yield name, target.id
    elif (attribute := own_attribute(target)) is not None:
        yield SELF, attribute
    elif isinstance(target, (ast.Starred, ast.Subscript, ast.Attribute)):
        yield from _held_by(target.value, name)
