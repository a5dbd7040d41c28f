"""Functions that a file reaches only where gradients are switched off.

    class Sampler:
        def show(self, image): plt.imshow(image.cpu().numpy())

    def main():
        with torch.no_grad():
            if args.sample:
                Sampler(net).show(x)      # the only one who asks for `show`

Nothing may have run such a function: its callers stand in code that is not reached, or are given what nobody knows. Who
runs it then has to run it as they do.
"""

from __future__ import annotations

import ast

from ..source import FIELDS, once, walk
from .outline import outline

OFF = ("no_grad", "inference_mode")
ALWAYS = frozenset(("forward", "__init__", "__call__"))
"""Methods that others call by other names."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef


Site = Definition | bool
"""Where a name is mentioned: True where gradients are off, else the function around it, if there is one."""


def is_unrecorded(tree: ast.Module, function: ast.AST) -> bool:
    """Whether a file reaches ``function``, and only where gradients are off."""
    return function in _unrecorded(tree)


@once
def _unrecorded(tree: ast.Module) -> frozenset[ast.AST]:
    """The functions of a file whose names are mentioned only under ``no_grad``, or in others of them. A class whose
    other methods are all used so is not used otherwise either.
    """
    sites: dict[str, list[Site]] = {}
    for statement in tree.body:
        for name, site in _mentions(statement):
            sites.setdefault(name, []).append(site)
    if not any(True in found for found in sites.values()):
        return frozenset()
    functions = [node for node in walk(tree) if isinstance(node, Definition)]
    classes = [node for node in walk(tree) if isinstance(node, ast.ClassDef)]
    owners = {each: node for node in classes for each in node.body if isinstance(each, Definition)}
    quiet: set[ast.AST] = set()
    while True:
        found = {each for each in functions if _is_quiet(each, sites, quiet)}
        for owner in {owners[each] for each in found if each in owners}:
            found |= _beside(owner, sites, quiet | found)
        if found <= quiet:
            return frozenset(quiet)
        quiet |= found


def _is_quiet(function: ast.AST, sites: dict[str, list[Site]], quiet: set[ast.AST]) -> bool:
    name = getattr(function, "name", "")
    if name in ALWAYS or outline(function).backward:
        return False
    around = [site for site in sites.get(name, ()) if site is not function]
    return bool(around) and all(site is True or site in quiet for site in around)


def _beside(owner: ast.ClassDef, sites: dict[str, list[Site]], quiet: set[ast.AST]) -> set[ast.AST]:
    """The methods that nobody mentions, of a class of which others are mentioned outside in such places only."""
    methods = [each for each in owner.body if isinstance(each, Definition) and each.name != "__init__"]
    outside = [site for each in methods for site in sites.get(each.name, ()) if site not in methods]
    called = any(each.name in ALWAYS for each in methods)
    if called or not outside or not all(site is True or site in quiet for site in outside):
        return set()
    return {each for each in methods if each.name not in sites and not outline(each).backward}


@once
def _mentions(statement: ast.stmt) -> tuple[tuple[str, Site], ...]:
    """Each name and attribute that is read in a statement of the file, and where."""
    found: list[tuple[str, Site]] = []
    todo: list[tuple[object, bool, Definition | None]] = [(statement, False, None)]
    while todo:
        item, off, function = todo.pop()
        kind = type(item)
        if kind is list:
            todo += [(each, off, function) for each in item if each is not None]  # type: ignore[attr-defined]
            continue
        if kind is ast.Name or kind is ast.Attribute:
            if isinstance(item.ctx, ast.Load):  # type: ignore[attr-defined]
                name = item.id if kind is ast.Name else item.attr  # type: ignore[attr-defined]
                found.append((name, off or function or False))
        elif isinstance(item, Definition):
            off, function = any(map(_switches, item.decorator_list)), item
        elif isinstance(item, (ast.With, ast.AsyncWith)):
            off = off or any(_switches(each.context_expr) for each in item.items)
        todo += [(below, off, function) for name in FIELDS[kind] if (below := getattr(item, name)) is not None]
    return tuple(found)


def _switches(node: ast.expr) -> bool:
    """``torch.no_grad()``, ``torch.inference_mode()``, ``torch.set_grad_enabled(False)``."""
    call = node if isinstance(node, ast.Call) else None
    name = node.func if call is not None else node
    last = name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
    if last == "set_grad_enabled":
        given = call.args[0] if call is not None and call.args else None
        return isinstance(given, ast.Constant) and given.value is False
    return last in OFF and not (call is not None and call.args)
