"""The modules that several files of a project import: executed for the first of them, and taken over by the others.

    train.py    imports models.py and losses.py, which are executed
    test.py     imports models.py: nothing of it is executed again

A report is the same with and without. A module is taken over only if all that was looked up and asked while it was
executed has the same answer for the other file, and the budgets that are left would not have changed it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field

from ..bounds import BOUNDS
from ..engine.machine import Machine


@dataclass(eq=False, slots=True)
class SharedModules:
    """The machines that have analysed a file last, each with the modules that it has executed or taken over."""

    _machines: OrderedDict[Hashable, Machine] = field(default_factory=OrderedDict)

    def give(self, machine: Machine, config: Hashable) -> None:
        """Let ``machine`` begin with modules that were executed under the same configuration and limits."""
        known = self._machines.get((config, machine.limits.of_modules))
        if known is not None and known.imports is not None and machine.imports is not None:
            machine.take_over(known)

    def keep(self, machine: Machine, config: Hashable) -> None:
        """Let others take over what ``machine`` has executed, which is done with a file."""
        key = config, machine.limits.of_modules
        self._machines.pop(key, None)
        imports = machine.imports
        if (
            imports is None
            or sum(len(module.source.text) for module in imports.modules.values()) > BOUNDS.shared_characters
        ):
            return
        self._machines[key] = machine
        while len(self._machines) > BOUNDS.shared_kinds:
            self._machines.popitem(last=False)
