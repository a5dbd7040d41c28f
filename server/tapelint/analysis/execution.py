"""Execution of one file under some inputs: a machine is made, and run to its end."""

from __future__ import annotations

import sys
from collections.abc import Callable

from ..autograd import Facts
from ..bounds import BOUNDS
from ..drivers.entry import execute
from ..engine.analysis_unit import AnalysisUnit
from ..engine.incremental import AnalysisCache
from ..engine.limits import Limits
from ..engine.machine import Machine, Probe
from ..frozen import frozen
from ..interpreter import CHECKS
from ..modules.loader import Imports
from ..modules.shared_modules import SharedModules
from ..semantics.evaluator import Evaluator
from ..source import Source
from ..stubs import Resolve
from ..workspace.config import Config
from .elsewhere import ConfigOf, Users


@frozen
class Inputs:
    """The configuration, the other files of the project, and the budgets; see ``analyse``."""

    config: Config = Config()
    # how imports are resolved
    resolve: Resolve | None = None
    # whether another file may import the one at a path
    is_imported: Callable[[str], bool] | None = None
    limits: Limits = Limits()
    config_of: ConfigOf | None = None
    focus: frozenset[str] = frozenset()
    # which other files use the one at a path
    users: Users | None = None
    # modules that other analyses have executed, which are taken over; what is reported does not depend on them
    shared: SharedModules | None = None


def run(
    source: Source,
    facts: Facts,
    inputs: Inputs = Inputs(),  # noqa: B008 (frozen)
    probe: Probe | None = None,
    cancel: Callable[[], bool] | None = None,
) -> Machine:
    """Execute ``source`` over ``facts``."""
    machine = made(source, facts, inputs, probe)
    executed(machine, cancel)
    return machine


def made(
    source: Source,
    facts: Facts,
    inputs: Inputs = Inputs(),  # noqa: B008 (frozen)
    probe: Probe | None = None,
) -> Machine:
    """A machine that is ready to execute ``source`` under ``inputs``, be it to check it, for a hover or for a trace."""
    tests = inputs.config.tests
    machine = Evaluator(facts, source.tree, CHECKS, probe=probe, limits=inputs.limits)
    machine.cells, machine.tests = source.cells, tests
    machine.collects_tests = tests.is_test_file(source.path)
    machine.serves_tests = tests.serves_tests(source.path, source.tree)
    if inputs.resolve is not None:
        machine.imports = Imports(machine, source, inputs.resolve, inputs.config.follow_installed)
        if inputs.shared is not None:
            inputs.shared.give(machine, inputs.config)
    return machine


def executed(
    machine: Machine, cancel: Callable[[], bool] | None = None, memory: AnalysisCache | None = None
) -> list[AnalysisUnit]:
    """Execute the file of ``machine``; the steps it took."""
    machine.cancel = cancel
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, BOUNDS.frames))
    try:
        return execute(machine, memory)
    finally:
        sys.setrecursionlimit(limit)
