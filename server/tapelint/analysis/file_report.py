"""The result of one analysis of one file: what is told of it, and what was counted and read for that."""

from __future__ import annotations

from dataclasses import field

from ..autograd.model.cuts import Withheld
from ..engine.machine import Place
from ..frozen import frozen
from ..report import Diagnostic, Fix, Notice
from ..report.diagnostic import Place as Shown
from ..rules import Finding
from ..source import Source, Span
from .execution import Inputs
from .locations import Hidden, Origin


@frozen
class Report:
    """The result of one analysis of one file."""

    path: str
    source: Source
    diagnostics: tuple[Diagnostic, ...]
    # counters of what was executed and what remained unknown
    stats: dict[str, int]
    inputs: Inputs
    # the finding of each diagnostic, those in other files included
    findings: dict[Shown, Finding] = field(default_factory=dict)
    # how many leaves the first backward at each place reached, in the program and where only a caller that was imagined
    # runs it, and how many any of them did: all, and those that the program runs
    reach: tuple[int, ...] = ()
    imagined: tuple[int, ...] = ()
    # what these would be without any cut
    uncut_reach: tuple[int, ...] = ()
    uncut_imagined: tuple[int, ...] = ()
    trained: int = 0
    trained_by_program: int = 0
    # what cuts have kept from leaves, and what of it is thrown away before any step could use it
    withheld: frozenset[Withheld] = frozenset()
    withheld_in_vain: frozenset[Withheld] = frozenset()
    # and what of it is kept from leaves that get no gradient at all
    untrained: frozenset[Withheld] = frozenset()
    # paths of the workspace's files that were read for its imports
    imports: tuple[str, ...] = ()
    # those of them that were executed, by path
    others: dict[str, Source] = field(default_factory=dict)
    # all hazards, also those in other files
    origins: frozenset[Origin] = frozenset()
    # the fixes of findings about suppression comments, by code and span
    removals: dict[tuple[str, Span], Fix] = field(default_factory=dict)
    # places, in any file, that go backward, and whether the root was ever known to have a graph
    walks: dict[Place, bool] = field(default_factory=dict)
    # what was not analysed; none of them is a finding
    notices: tuple[Notice, ...] = ()
    # what stands in other files that are checked, each with the severity that it has for the user
    elsewhere: tuple[Diagnostic, ...] = ()
    # what comments in the file silence
    hidden: tuple[Hidden, ...] = ()
