"""Cures that edit files which the checked one imports: ``self.h`` is detached in net.py, where it is kept.

Only files of the project that are checked as well are edited. The checked file is then analysed with the other text in
place of what is on disk; and the other file by itself must show nothing more than before.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ..fixes import edits_for
from ..report import FileEdits
from ..rules.support.cure import FixProposal
from ..source import Edit, Source, difference
from ..stubs import Resolve, stub_module_name
from .execution import Inputs
from .file_report import Report

UNSAFE = " [unsafe]"
"""How the title of a fix ends that changes what the program computes."""


def file_edits(report: Report, cure: FixProposal) -> tuple[FileEdits, ...] | None:
    """The edits that make ``cure`` happen, in the checked file and in others; None where that cannot be done safely."""
    made: list[FileEdits] = []
    for source, parts in _by_file(report, cure):
        first, *more = parts
        edits = edits_for(source, replace(first, also=tuple(more))) if source is not None else None
        if source is None or edits is None:
            return None
        made.append(FileEdits(source.path, source.text, edits))
    return tuple(made)


def _by_file(report: Report, cure: FixProposal) -> Iterator[tuple[Source | None, list[FixProposal]]]:
    """The parts of a cure by the file that is edited; None for those that concern several, or one that may not be."""
    found: dict[Source | None, list[FixProposal]] = {}
    for part in (cure, *cure.also):
        owners = {_owner(report, node) for node in part.targets if hasattr(node, "lineno")}
        found.setdefault(owners.pop() if len(owners) == 1 else None, []).append(replace(part, also=()))
    yield from found.items()


def _owner(report: Report, node: ast.AST) -> Source | None:
    """The file that a node stands in, if it may be edited."""
    if report.source.holds(node):
        return report.source
    held = (source for source in report.others.values() if source.holds(node))
    return next((source for source in held if is_edited(report.inputs, source.path)), None)


def is_edited(inputs: Inputs, path: str) -> bool:
    """Whether cures may edit an imported file: it is one of the project that is checked as well."""
    return inputs.config_of is not None and stub_module_name(path) is None and inputs.config_of(path) is not None


def with_texts(inputs: Inputs, texts: Mapping[str, str]) -> Inputs:
    """``inputs`` where the files at some paths have other texts."""
    if not texts or inputs.resolve is None:
        return inputs
    return replace(inputs, resolve=_overlaid(inputs.resolve, texts))


def _overlaid(resolve: Resolve, texts: Mapping[str, str]) -> Resolve:
    def resolved(module: str, importer: str) -> tuple[str, str] | None:
        found = resolve(module, importer)
        return found if found is None else (found[0], texts.get(*found))

    return resolved


def named(title: str, edited: Iterable[str], reader: str) -> str:
    """The title of a fix for readers of the file ``reader``: it says which files are edited, unless it is this one.

    >>> named("Detach `self.h`", ["lib/net.py"], "main.py")
    'In net.py, detach `self.h`'
    """
    paths = sorted(edited)
    if set(paths) <= {reader}:
        return title
    return f"In {' and '.join(map(os.path.basename, paths))}, {title[:1].lower()}{title[1:]}"


def joined(first: Iterable[FileEdits], more: Iterable[FileEdits]) -> tuple[FileEdits, ...]:
    """Both as one, ``more`` having been made of what the ``first`` had left."""
    found = {each.filename: each for each in first}
    for each in more:
        before = found.get(each.filename)
        if before is not None:
            each = replace(each, text=before.text, edits=difference(before.text, each.after))
        found[each.filename] = each
    return tuple(found.values())


def edits_of(made: Iterable[FileEdits], path: str) -> tuple[Edit, ...]:
    """Those of the file at ``path``."""
    return tuple(edit for each in made if each.filename == path for edit in each.edits)
