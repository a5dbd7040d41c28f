"""Functions that a file uses only where nobody goes backward through what they compute.

    class Sampler:
        def show(self, image): plt.imshow(image.cpu().numpy())

    def main():
        with torch.no_grad():
            if args.sample:
                Sampler(net).show(x)      # the only one who asks for `show`

    def rollout(agent):
        agent.act(state).data.numpy()     what `act` returns is only read as numbers

    class Shampoo(torch.optim.Optimizer):
        def step(self): ... power(self.state[p]["precond"], -0.5) ...      # the only one who asks for `power`

Nothing may have run such a function: its callers stand in code that is not reached, or are given what is unknown. Who
runs it then has to run it as they do. What only the methods of a ``torch.autograd.Function`` use is reached so too.
What ``step`` computes goes into the parameters and the optimizer's state; an optimizer that goes backward itself, or
through what it calls, may walk what it computes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Set

from ..domain.mro import mro_of
from ..domain.state import State
from ..domain.values import Class, External, Frame, Function, HeapRef
from ..engine.syntax.syntactic_summary import syntactic_summary
from ..engine.syntax.walked_results import ENDS
from ..frozen import frozen
from ..models.python.classes.library_classes import is_derived
from ..models.torch.autograd.grad_mode import switches_off
from ..source import Definition, cached_on_node, children, definitions, walk

ALWAYS = frozenset(("forward", "__init__", "__call__"))
"""Methods that others call by other names."""


@frozen
class Site:
    """Where a name is mentioned: in which function, if in one, whether gradients are off there, and whether it is
    called for the numbers of what it returns: ``agent.act(state).data.numpy()``.
    """

    function: Definition | None
    off: bool
    is_read: bool

    def is_quiet(self, quiet: Set[ast.AST]) -> bool:
        return self.off or self.function in quiet


def is_unrecorded(tree: ast.Module, function: ast.AST) -> bool:
    """Whether a file reaches ``function``, and only where gradients are off."""
    return function in _unrecorded(tree)


def is_unrecorded_in(trees: Iterable[ast.Module], name: str) -> bool:
    """Whether files mention what has this ``name``, and only where gradients are off."""
    if name in ALWAYS:
        return False
    found = [(site, tree) for tree in trees for site in _mentions_of(tree).get(name, ())]
    return bool(found) and all(site.is_quiet(_unrecorded(tree)) for site, tree in found)


def is_read_in(trees: Iterable[ast.Module], name: str) -> bool:
    """Whether files mention what has this ``name``, and only where nobody can go backward through what it returns."""
    found = [(site, tree) for tree in trees for site in _mentions_of(tree).get(name, ()) if name not in ALWAYS]
    return bool(found) and all(site.is_read or site.is_quiet(_unrecorded(tree)) for site, tree in found)


def is_mentioned_in(trees: Iterable[ast.Module], name: str) -> bool:
    """Whether files mention what has this ``name``, other than to import it."""
    return any(name in _mentions_of(tree) for tree in trees)


def runs_unrecorded(tree: ast.Module, forward: ast.AST) -> bool:
    """Whether a file runs a ``forward`` by that name, outside of its class only where gradients are off."""
    owner = next((kind for method, kind in _owners(tree).items() if method is forward), None)
    inside = set[ast.AST]() if owner is None else set(walk(owner))
    sites = [site for site in _mentions_of(tree).get("forward", ()) if site.function not in inside]
    return bool(sites) and all(site.is_quiet(_unrecorded(tree)) for site in sites)


def serves_optimizers(tree: ast.Module, state: State, module: int, function: Function, owner: HeapRef | None) -> bool:
    """Whether a function of ``tree``, which is run as ``module``, is a method of an optimizer, or is mentioned only in
    such methods and in functions of which the same is true.
    """
    if owner is not None and _is_optimizer(state, owner):
        return True
    variables, stepping = state.get(module, Frame).variables, set[ast.AST]()
    for name in _classes(tree):
        kind = variables.get(name)
        if isinstance(kind, HeapRef) and _is_optimizer(state, kind):
            methods = state.get(kind.id, Class).attributes.values()
            stepping.update(each.node for each in methods if isinstance(each, Function))
    if not stepping or not stepping.isdisjoint(_training_functions(tree)):
        return False
    return function.node in _quiet_functions(tree, stepping)


def _is_optimizer(state: State, kind: HeapRef) -> bool:
    """Whether something is a class that derives from PyTorch's optimizer."""
    if not isinstance(state.heap.get(kind.id), Class):
        return False
    bases = (base.name for base in mro_of(state, kind) if isinstance(base, External))
    return any(is_derived(name, "torch.optim.Optimizer") for name in bases)


@cached_on_node
def _unrecorded(tree: ast.Module) -> frozenset[ast.AST]:
    """The functions of a file whose names are mentioned only under ``no_grad``, or in others of them."""
    return _quiet_functions(tree, ()) if mentions_unrecorded(tree) else frozenset()


@cached_on_node
def mentions_unrecorded(tree: ast.Module) -> bool:
    """Whether a file mentions anything under ``no_grad``."""
    return any(site.off for found in _mentions_of(tree).values() for site in found)


def _quiet_functions(tree: ast.Module, begin: Iterable[ast.AST]) -> frozenset[ast.AST]:
    """The functions ``begin`` of a file, and those that are mentioned only in them, under ``no_grad``, or in others of
    which the same is true. A class whose other methods are all used so is not used otherwise either. What goes backward
    itself, or through what it mentions, runs with gradients, for otherwise it could not.
    """
    sites, training, owners = _mentions_of(tree), _training_functions(tree), _owners(tree)
    functions = [each for each in _functions(tree) if each not in training]
    quiet = set(begin)
    while True:
        found: set[ast.AST] = {each for each in functions if _is_quiet(each, sites, quiet)}
        for owner in {owners[each] for each in found if isinstance(each, Definition) and each in owners}:
            found |= _beside(owner, sites, quiet | found) - training
        if found <= quiet:
            return frozenset(quiet)
        quiet |= found


@cached_on_node
def _mentions_of(tree: ast.Module) -> dict[str, list[Site]]:
    """Where each name is mentioned."""
    sites: dict[str, list[Site]] = {}
    for statement in tree.body:
        for name, site in _mentions(statement):
            sites.setdefault(name, []).append(site)
    return sites


@cached_on_node
def _classes(tree: ast.Module) -> tuple[str, ...]:
    """The names of the classes of a file."""
    return tuple(each.name for each in definitions(tree) if isinstance(each, ast.ClassDef))


def _functions(tree: ast.Module) -> list[Definition]:
    return [each for each in definitions(tree) if isinstance(each, Definition)]


def _owners(tree: ast.Module) -> dict[Definition, ast.ClassDef]:
    """The class that each method is defined in."""
    classes = [each for each in definitions(tree) if isinstance(each, ast.ClassDef)]
    return {each: node for node in classes for each in node.body if isinstance(each, Definition)}


@cached_on_node
def _training_functions(tree: ast.Module) -> frozenset[ast.AST]:
    """The functions of a file that go backward, or mention one that does."""
    sites, functions, training = _mentions_of(tree), _functions(tree), set[ast.AST]()
    fresh = [each for each in functions if syntactic_summary(each).backward or _differentiates(each)]
    while fresh:
        training.update(fresh)
        above = {site.function for each in fresh for site in sites.get(each.name, ())}
        fresh = [each for each in functions if each in above and each not in training]
    return frozenset(training)


@cached_on_node
def _differentiates(function: Definition) -> bool:
    """Whether a function calls ``torch.autograd.grad``, or something else of that name."""
    return any(isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "grad" for n in walk(function))


def _is_quiet(function: Definition, sites: dict[str, list[Site]], quiet: set[ast.AST]) -> bool:
    if function.name in ALWAYS:
        return False
    # One of several that hand on to each other (`self.net.inverse(u)` in another `inverse`) runs as the first one does.
    around = [site for site in sites.get(function.name, ()) if getattr(site.function, "name", "") != function.name]
    return bool(around) and all(site.is_quiet(quiet) for site in around)


def _beside(owner: ast.ClassDef, sites: dict[str, list[Site]], quiet: set[ast.AST]) -> set[ast.AST]:
    """The methods that no code mentions, of a class of which others are mentioned outside in such places only."""
    methods = [each for each in owner.body if isinstance(each, Definition) and each.name != "__init__"]
    inside = set(walk(owner))
    outside = [site for each in methods for site in sites.get(each.name, ()) if site.function not in inside]
    called = any(each.name in ALWAYS for each in methods)
    if called or not outside or not all(site.is_quiet(quiet) for site in outside):
        return set()
    return {each for each in methods if each.name not in sites}


@cached_on_node
def _mentions(statement: ast.stmt) -> tuple[tuple[str, Site], ...]:
    """Each name and attribute that is read in a statement of the file, and where."""
    found: list[tuple[str, Site]] = []
    todo: list[tuple[ast.AST, bool, Definition | None]] = [(statement, False, None)]
    applied, read = set[ast.AST](), set[ast.AST]()
    while todo:
        item, off, function = todo.pop()
        if isinstance(item, (ast.Name, ast.Attribute)):
            name = item.id if isinstance(item, ast.Name) else item.attr
            if isinstance(item.ctx, ast.Load):
                found.append((name, Site(function, off, item in read)))
            _add_read(item, name, read)
        elif isinstance(item, Definition):
            off, function = item in applied or any(map(switches_off, item.decorator_list)), item
        elif isinstance(item, ast.ClassDef):
            applied.update(_applied(item))
        elif isinstance(item, (ast.With, ast.AsyncWith)):
            off = off or any(switches_off(each.context_expr) for each in item.items)
        todo += [(below, off, function) for below in children(item)]
    return tuple(found)


def _add_read(item: ast.expr, name: str, read: set[ast.AST]) -> None:
    """Add to ``read`` the function of whose result ``item`` asks for the numbers, or for something of which they are
    asked in turn.
    """
    match item:
        case ast.Attribute(ast.Call(function)) if name in ENDS or item in read:
            read.add(function)


def _applied(owner: ast.ClassDef) -> list[Definition]:
    """The static `forward` and `backward` of a class that has both: those of a ``torch.autograd.Function``, which
    PyTorch calls with gradients switched off (`backward` too, unless a caller wants a graph of the gradients).
    """
    methods = [
        each
        for each in owner.body
        if isinstance(each, Definition)
        and each.name in ("forward", "backward")
        and any(getattr(decorator, "id", "") == "staticmethod" for decorator in each.decorator_list)
    ]
    return methods if len({each.name for each in methods}) > 1 else []
