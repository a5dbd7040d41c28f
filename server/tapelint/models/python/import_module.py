"""``importlib.import_module``: an import whose name is a value.

importlib.import_module("models.resnet")          as ``import models.resnet``, but the value is that module
importlib.import_module(".resnet", "models")      the same
importlib.import_module("." + name, __package__)  below the folder of the file that asks
"""

from __future__ import annotations

from ...domain.state import State
from ...domain.values import Const, External, Value
from ...engine.machine import Machine
from ..torch.registry import Call, function


@function("importlib.import_module")
def import_module(machine: Machine, state: State, call: Call) -> Value:
    name, package = call.get(0, "name"), call.get(1, "package")
    if not isinstance(name, Const) or not isinstance(name.value, str) or not name.value.strip("."):
        return machine.call_unknown(state, call.args, call.kwargs, call.node, External(call.name))
    tries = [name.value]
    if name.value.startswith(".") and isinstance(package, Const) and isinstance(package.value, str):
        tries.insert(0, _absolute(name.value, package.value))
    if machine.imports is not None:
        importer = machine.imports.here(state).path
        for each in tries:
            found = machine.imports.module(state, each, importer)
            if found is not None:
                return found
    return External(tries[0])


def _absolute(name: str, package: str) -> str:
    """``..b`` as ``a.c`` means it: ``a.b``."""
    below = name.lstrip(".")
    parts = package.split(".")
    return ".".join([*parts[: len(parts) + 1 - (len(name) - len(below))], below])
