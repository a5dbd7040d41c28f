"""``os.path`` and ``pathlib``: how the program writes the path of a file beside its own.

HERE = Path(__file__).resolve().parent
open(HERE / "conf" / "a.yaml")
open(os.path.join(os.path.dirname(__file__), "conf/a.yaml"))
"""

from __future__ import annotations

from ...domain.options import settled
from ...domain.project_path import ProjectPath, located, of_path
from ...domain.state import State
from ...domain.values import Const, Tuple, Unknown, Value
from ...engine.machine import Machine
from ...frozen import frozen
from ..torch.registry import Call, function

SAME = "os.path.abspath os.path.realpath os.path.normpath os.path.expanduser os.fspath".split()
CLASSES = "pathlib.Path pathlib.PurePath pathlib.PosixPath".split()


@frozen
class OpenFile:
    """The formula of a file of the project that the program has opened, or of its text."""

    path: ProjectPath


@function(*SAME)
def same(machine: Machine, state: State, call: Call) -> Value:
    given = call.args[0]
    return given if isinstance(settled(given), Const) or _path(machine, given) is not None else Unknown("path", False)


@function("os.path.dirname")
def folder(machine: Machine, state: State, call: Call) -> Value:
    path = _path(machine, call.args[0])
    return Unknown("path", False) if path is None else of_path(path.parent)


@function("os.path.join", *CLASSES)
def joined(machine: Machine, state: State, call: Call) -> Value:
    path = _path(machine, call.args[0])
    return Unknown("path", False) if path is None else _below(path, call.args[1:])


def _below(path: ProjectPath, parts: list[Value]) -> Value:
    """A path below another one, or an unknown one."""
    for part in map(settled, parts):
        if not isinstance(part, Const) or not isinstance(part.value, str) or part.value.startswith("/"):
            return Unknown("path", False)
        path = path / part.value
    return of_path(path)


def _path(machine: Machine, value: Value) -> ProjectPath | None:
    imports = machine.imports
    return None if imports is None else located(value, lambda: imports.main.path)


def path_divided(path: ProjectPath, part: Value) -> Value:
    """``path / part``."""
    return _below(path, [part])


def attribute_of_path(path: ProjectPath, name: str) -> Value | None:
    """An attribute of an object of ``pathlib``; None for any other."""
    if name == "parents":
        return Tuple((of_path(path.parent), of_path(path.parent.parent), of_path(path.parent.parent.parent)))
    return of_path(path.parent) if name == "parent" else None


def method_of_path(receiver: Unknown, call: Call) -> Value | None:
    """A method of an object of ``pathlib``, or the text of an open file; None for any other."""
    path = receiver.formula
    if isinstance(path, OpenFile):
        return Unknown("file", False, formula=path) if call.name == "read" and not call.args else None
    if not isinstance(path, ProjectPath):
        return None
    match call.name:
        case "resolve" | "absolute" | "expanduser" | "as_posix" | "__str__":
            return of_path(path)
        case "joinpath":
            return _below(path, call.args)
        case "open" | "read_text" | "read_bytes":
            return Unknown("file", False, formula=OpenFile(path))
    return None
