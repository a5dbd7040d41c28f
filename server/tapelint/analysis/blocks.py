"""Findings of a report as they are printed for a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..report.block import Block, Lines, block_of
from ..report.diagnostic import Diagnostic, Offer
from ..report.in_cells import fixes_in_cell, in_cells, rows_in_cells
from . import Report


def texts_of(report: Report) -> Lines:
    """The rows of the files of a report, and of the cells of a notebook, by the names that they have in findings."""
    cells = rows_in_cells(report.source)

    def lines(filename: str) -> Sequence[str]:
        if filename in cells:
            return cells[filename]
        source = report.others.get(filename)
        return source.lines if source else ()

    return lines


def shown_in_cells(report: Report, diagnostic: Diagnostic, offer: Offer) -> Block:
    """A finding with its code and what is offered; in a notebook all of it is in rows of cells."""
    diagnostic, lines = in_cells(diagnostic, report.source), texts_of(report)
    offer = replace(offer, fixes=tuple(fixes_in_cell(offer.fixes, report.source, diagnostic.filename)))
    if report.source.cells:
        return block_of(diagnostic, lines, offer, "\n".join(lines(diagnostic.filename)))
    return block_of(diagnostic, lines, offer, report.source.text, report.path)
