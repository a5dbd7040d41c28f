"""Records as mypyc takes them: classes without a decorator, with the methods of a dataclass written out.

mypyc makes a native class of neither a class with an unknown decorator nor a dataclass with slots, and of a plain
dataclass it leaves ``__init__``, ``__eq__`` and ``__hash__`` to ``dataclasses``, which compiles them as Python at each
start.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Field:
    """A field of a record: its file, its annotation, the text of its default, and where it takes part."""

    path: str
    name: str
    annotation: str
    default: str | None
    factory: str | None
    given: bool
    compared: bool
    shown: bool
    kw_only: bool


@dataclass
class Records:
    """All records of a package, by the name of their class and the text of their file."""

    classes: dict[str, list[tuple[str, ast.ClassDef]]] = field(default_factory=dict)

    def add(self, path: str, tree: ast.Module) -> None:
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and _options(node) is not None:
                self.classes.setdefault(node.name, []).append((path, node))

    def fields(self, path: str, node: ast.ClassDef) -> dict[str, Field]:
        """The fields of a record, those of its bases first."""
        found: dict[str, Field] = {}
        for where, base in self._bases(path, node):
            found |= self.fields(where, base)
        return found | {each.name: each for each in _own_fields(path, node)}

    def prepares(self, path: str, node: ast.ClassDef) -> bool:
        """Whether a record has a ``__post_init__``."""
        return "__post_init__" in _defined(node) or any(self.prepares(*base) for base in self._bases(path, node))

    def _bases(self, path: str, node: ast.ClassDef) -> Iterator[tuple[str, ast.ClassDef]]:
        for base in node.bases:
            base = base.value if isinstance(base, ast.Subscript) else base
            known = self.classes.get(base.id, []) if isinstance(base, ast.Name) else []
            here = [each for each in known if each[0] == path] or known
            if len(here) > 1:
                raise ValueError(f"{path}: {node.name} has a base of which there are several")
            yield from here

    def rewritten(self, path: str, text: str) -> str:
        """The text of a module with its records as native classes."""
        lines = text.split("\n")
        after: list[tuple[int, list[str]]] = []
        found = [each for known in self.classes.values() for where, each in known if where == path]
        for node in found:
            for number in _left_out(node):
                lines[number - 1] = ""
            for number, new in _declared(node).items():
                lines[number - 1] = new
            after.append((node.end_lineno or 0, self._methods(path, node)))
        for number, new_lines in sorted(after, reverse=True):
            lines[number:number] = new_lines
        if found:
            start = next(number for number, line in enumerate(lines) if line.startswith("from __future__ import"))
            lines[start] += f"; from {_root(path)}native_records import as_record; from typing import Final"
            for where, name in sorted(self._borrowed(path, text, found)):
                module = where.removesuffix(".py").replace("/", ".")
                lines[start] += f"; from {_root(path)}{module} import {name}"
        for number, line in enumerate(lines):
            if line.startswith("from dataclasses import "):
                lines[number] = (
                    f"from {_root(path)}native_records import {line.removeprefix('from dataclasses import ')}"
                )
        return "\n".join(lines)

    def _borrowed(self, path: str, text: str, records: list[ast.ClassDef]) -> set[tuple[str, str]]:
        """The names in inherited fields that ``text`` does not know, each with the file that does: constructors repeat
        the annotations and defaults of these fields.
        """
        return {
            (each.path, node.id)
            for record in records
            for each in self.fields(path, record).values()
            if each.path != path
            for part in (each.annotation, each.default, each.factory)
            if part is not None
            for node in ast.walk(ast.parse(part))
            if isinstance(node, ast.Name) and not hasattr(builtins, node.id) and not re.search(rf"\b{node.id}\b", text)
        }

    def _methods(self, path: str, node: ast.ClassDef) -> list[str]:
        """What comes after the body of a record."""
        fields = list(self.fields(path, node).values())
        options = _options(node) or {}
        defined, eq = _defined(node), options.get("eq", True)
        lines = [f"__match_args__: Final = ({_by_position(fields)})"]
        if "__init__" not in defined:
            lines += _constructor(fields, self.prepares(path, node))
        if eq:
            lines += _comparison(node, [each.name for each in fields if each.compared])
        return ["", *("    " + line for line in lines), "", f"as_record({node.name}, {_told_of(fields)})", ""]


def _root(path: str) -> str:
    """What a module calls the package that it is in, as the start of a relative import."""
    return "." * (path.count("/") + 1)


def _told_of(fields: list[Field]) -> str:
    """What ``as_record`` is given: the names of all fields, of those not given, of those not shown."""
    parts = (fields, [f for f in fields if not f.given], [f for f in fields if not f.shown])
    return ", ".join(f'"{" ".join(each.name for each in some)}"' for some in parts)


def _by_position(fields: list[Field]) -> str:
    """The names of what a constructor takes by position, as the items of a tuple."""
    return "".join(f'"{each.name}", ' for each in fields if each.given and not each.kw_only)


def _constructor(fields: list[Field], prepares: bool) -> list[str]:
    """``__init__``, which takes None for what a factory makes."""

    def parameter(each: Field) -> str:
        if each.factory is not None:
            return f"{each.name}: {each.annotation} | None = None"
        return f"{each.name}: {each.annotation}" + (f" = {each.default}" if each.default is not None else "")

    given = [each for each in fields if each.given]
    named = [parameter(each) for each in given if each.kw_only]
    parameters = ["self", *(parameter(each) for each in given if not each.kw_only), *(["*"] if named else []), *named]
    body = [line for each in fields if (line := _set(each)) is not None]
    if prepares:
        body.append("self.__post_init__()")
    return [f"def __init__({', '.join(parameters)}) -> None:", *("    " + line for line in body or ["pass"])]


def _set(each: Field) -> str | None:
    """What a constructor does for a field; None for one that ``__post_init__`` sets."""
    made = f"({each.factory})()" if each.factory is not None else each.default
    if each.given:
        otherwise = f"{made} if {each.name} is None else " if each.factory is not None else ""
        return f"self.{each.name} = {otherwise}{each.name}"
    return f"self.{each.name} = {made}" if made is not None else None


def _comparison(node: ast.ClassDef, compared: list[str]) -> list[str]:
    """``__eq__`` and, if it is not to be changed, ``__hash__``, unless the class has its own."""
    defined, lines = _defined(node), []
    if "__eq__" not in defined:
        lines += _equality(node.name, compared)
    if (_options(node) or {}).get("frozen", False) and "__hash__" not in defined:
        lines += ["def __hash__(self) -> int:", f"    return hash(({''.join(f'self.{n}, ' for n in compared)}))"]
    return lines


def _equality(name: str, compared: list[str]) -> list[str]:
    """``__eq__``, which compares as tuples of the fields do: what is identical is equal. It answers
    False rather than ``NotImplemented``, which compiled code would take for true.
    """
    equal = " and ".join(f"(self.{n} is other.{n} or self.{n} == other.{n})" for n in compared) or "True"
    return [
        "def __eq__(self, other: object) -> bool:",
        "    if self is other:",
        "        return True",
        "    if type(other) is not type(self):",
        "        return False",
        f"    assert isinstance(other, {name})",
        f"    return {equal}",
    ]


def _options(node: ast.ClassDef) -> dict[str, bool] | None:
    """The options of the decorator that makes a class a record; None if there is none."""
    for each in node.decorator_list:
        maker = each.func if isinstance(each, ast.Call) else each
        if isinstance(maker, ast.Name) and maker.id in ("frozen", "dataclass"):
            given = each.keywords if isinstance(each, ast.Call) else []
            options = {str(item.arg): bool(ast.literal_eval(item.value)) for item in given}
            return ({"frozen": True} if maker.id == "frozen" else {}) | options
    return None


def _defined(node: ast.ClassDef) -> set[str]:
    return {each.name for each in node.body if isinstance(each, ast.FunctionDef)}


def _is_marker(annotation: ast.expr) -> bool:
    return isinstance(annotation, ast.Name) and annotation.id == "KW_ONLY"


def _annotated(node: ast.ClassDef) -> Iterator[tuple[str, ast.AnnAssign]]:
    """The annotated names in the body of a record but for the variables of the class."""
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            if not ast.unparse(each.annotation).startswith("ClassVar"):
                yield each.target.id, each


def _own_fields(path: str, node: ast.ClassDef) -> Iterator[Field]:
    options = _options(node) or {}
    kw_only = options.get("kw_only", False)
    for name, each in _annotated(node):
        if _is_marker(each.annotation):
            kw_only = True
            continue
        told = _told(each.value)
        default, factory = told.pop("default", None), told.pop("default_factory", None)
        flags = {key: ast.literal_eval(value) for key, value in told.items()}
        yield Field(
            path,
            name,
            ast.unparse(each.annotation),
            None if default is None else ast.unparse(default),
            None if factory is None else ast.unparse(factory),
            flags.get("init", True),
            flags.get("compare", True),
            flags.get("repr", True),
            flags.get("kw_only", kw_only),
        )


def _told(value: ast.expr | None) -> dict[str, ast.expr]:
    """What is said of a field: the arguments of ``field()``, or the default by itself."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "field":
        return {str(each.arg): each.value for each in value.keywords}
    return {} if value is None else {"default": value}


def _left_out(node: ast.ClassDef) -> Iterator[int]:
    """The lines that a native class does not have: the decorator, and the declarations, which are written anew."""
    for each in node.decorator_list:
        maker = each.func if isinstance(each, ast.Call) else each
        if isinstance(maker, ast.Name) and maker.id in ("frozen", "dataclass"):
            yield from range(each.lineno, (each.end_lineno or each.lineno) + 1)
    for _, item in _annotated(node):
        yield from range(item.lineno, (item.end_lineno or item.lineno) + 1)


def _declared(node: ast.ClassDef) -> dict[int, str]:
    """By line: the declarations of the fields, without defaults."""
    return {
        each.lineno: f"    {name}: {ast.unparse(each.annotation)}"
        for name, each in _annotated(node)
        if not _is_marker(each.annotation)
    }
