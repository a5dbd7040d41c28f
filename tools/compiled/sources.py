"""The copy of the sources that mypyc compiles."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

from .records import Records

PACKAGES = ("domain", "autograd", "engine", "semantics", "models", "checks", "modules")
"""What is compiled."""
INTERPRETED = ("frozen.py", "engine/paths/witnesses.py")
"""What is not, although it lies there: the decorator of records, and classes that say ``__iter__ = None``."""
OPTIONS = """
[mypy]
strict = true
python_version = {version}
warn_unused_ignores = false
implicit_reexport = true
explicit_package_bases = true
exclude = stubs/programs/
[mypy-{untyped}]
ignore_missing_imports = true
follow_imports = skip
"""
UNTYPED = ("jedi.*", "parso.*", "yaml.*", "tomli", "torch.*", "distributed.*")


def write(source: Path, target: Path) -> list[Path]:
    """Copy the package at ``source`` to ``target``; the modules that are to be compiled, rewritten."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    found = {
        file.relative_to(target).as_posix(): file
        for package in PACKAGES
        for file in sorted((target / package).rglob("*.py"))
    }
    found = {path: file for path, file in found.items() if path not in INTERPRETED}
    records = Records()
    for path, file in found.items():
        records.add(path, ast.parse(file.read_text(encoding="utf-8")))
    for path, file in found.items():
        text = records.rewritten(path, file.read_text(encoding="utf-8"))
        file.write_text(SPECIAL[path](text, target) if path in SPECIAL else text, encoding="utf-8")
    own = Path(__file__).with_name("native_records.py")
    shutil.copy(own, target / own.name)
    return list(found.values())


def _evaluator(text: str, root: Path) -> str:
    """``call = calls.call_value`` as a method that calls it: a native class takes no function of another module."""
    lines = text.split("\n")
    tree = ast.parse((root / "engine" / "evaluation.py").read_text(encoding="utf-8"))
    declared = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Evaluation")
    for method in declared.body:
        if isinstance(method, ast.FunctionDef):
            where, found = next(
                (number, found)
                for number, line in enumerate(lines)
                if (found := re.fullmatch(rf"    {method.name} = (staticmethod\()?([\w.]+)\)?", line))
            )
            given = [argument.arg for argument in method.args.args][1 if found[1] else 0 :]
            assert method.returns is not None
            lines[where] = (
                f"    def {method.name}({ast.unparse(method.args)}) -> {ast.unparse(method.returns)}:\n"
                f"        return {found[2]}({', '.join(given)})"
            )
    start = lines.index("from __future__ import annotations")
    lines[start] += (
        "\nimport ast\nfrom ..domain.state import State\nfrom ..domain.values import Generator, HeapRef, Value"
    )
    lines[start] += "\nfrom ..engine.evaluation import Items"
    return "\n".join(lines)


def _state(text: str, root: Path) -> str:
    """``SLOTS`` written out: a native class has no ``__slots__``."""
    names: list[str] = []
    for path in ("autograd/state.py", "domain/state.py"):
        classes = (node for node in ast.parse((root / path).read_text(encoding="utf-8")).body if _is_state(node))
        for node in (part for each in classes for part in ast.walk(each)):
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__slots__":
                names += ast.literal_eval(node.value)
    return text.replace("SLOTS = (*AutogradState.__slots__, *State.__slots__)", f"SLOTS = {tuple(names)!r}")


def _is_state(node: ast.stmt) -> bool:
    return isinstance(node, ast.ClassDef) and node.name in ("AutogradState", "State")


def _arguments(text: str, _: Path) -> str:
    """``Arguments`` is a list of Python's own kind, whose ``__getitem__`` is asked."""
    return text.replace(
        "class Arguments(list[Value]):",
        "@mypyc_attr(native_class=False)\nclass Arguments(list[Value]):",
    ).replace(
        "from __future__ import annotations",
        "from __future__ import annotations\nfrom mypy_extensions import mypyc_attr",
        1,
    )


def _values(text: str, _: Path) -> str:
    """The value of a constant as a property, which a class derived from ``Const`` overrides by one."""
    declared = "    value: Any\n"
    assert text.count(declared) == 1
    value = "    _value: Any\n\n    @property\n    def value(self) -> Any:\n        return self._value\n"
    return text.replace(declared, value).replace("self.value = value", "self._value = value")


SPECIAL = {
    "domain/values.py": _values,
    "semantics/evaluator.py": _evaluator,
    "domain/state.py": _state,
    "models/torch/registry.py": _arguments,
}
