"""What the page asks, and what it is told: runs in the browser, in Pyodide, and knows nothing of it.

A question is a JSON object: the name of a method of :class:`Session` under ``ask``, and the method's arguments. So is
the answer. Places are offsets into the program, from 0, in the units of JavaScript's strings (UTF-16); rows count from
1.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tapelint import analysis
from tapelint.hover import Hovers
from tapelint.picture import Nothing, picture_at
from tapelint.picture.svg import svg
from tapelint.report import Diagnostic, Notice, Related
from tapelint.source import Source, Span
from tapelint.source.edit import line_starts
from tapelint.tracebacks import Frame, Raised, explained, raised_in, the_one
from tapelint.tracebacks.cause import row_of

NAME = "train.py"
"""What the program is called."""


class Offsets:
    """Between tapelint's rows and columns, in characters from 1, and the offsets of JavaScript's strings."""

    def __init__(self, text: str) -> None:
        self._text, self._starts = text, line_starts(text)
        self._is_plain = all(letter <= "\uffff" for letter in text)

    def range(self, span: Span) -> dict[str, int]:
        """Where a span begins and ends, and the row in which it begins."""
        begin, end = self.at(span.row, span.column), self.at(span.end_row, span.end_column)
        return {"from": begin, "to": end, "row": span.row}

    def rest_of_line(self, row: int, column: int) -> dict[str, int]:
        """From a place to the end of its row, without spaces at the end."""
        begin = min(self._starts[row - 1] + column - 1, len(self._text))
        rest = self._text[begin : self._starts[row] if row < len(self._starts) else None].rstrip()
        return {"from": self._units(begin), "to": self._units(begin + len(rest)), "row": row}

    def at(self, row: int, column: int) -> int:
        """The offset of a row and a column; those behind the end stand for the end."""
        offset = self._starts[row - 1] + column - 1 if row <= len(self._starts) else len(self._text)
        return self._units(min(offset, len(self._text)))

    def place(self, offset: int) -> tuple[int, int]:
        """The row and the column of an offset."""
        characters = offset if self._is_plain else len(_encoded(self._text)[: 2 * offset].decode("utf-16-le", "ignore"))
        row = max(index for index, start in enumerate(self._starts) if start <= max(characters, 0))
        return row + 1, characters - self._starts[row] + 1

    def _units(self, characters: int) -> int:
        return characters if self._is_plain else len(_encoded(self._text[:characters])) // 2


def _encoded(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


class Session:
    """The program of one page, and what was last found in it. An empty file in ``folder`` stands for the program:
    frames of a traceback are of files that exist.
    """

    def __init__(self, folder: str) -> None:
        self._folder, self._path = folder, str(Path(folder, NAME))
        Path(self._path).touch()
        self._memory = analysis.AnalysisCache()
        self._set(analysis.analyse("", self._path, memory=self._memory))

    def _set(self, report: analysis.Report) -> None:
        self._report, self._hovers = report, Hovers(report)
        self._offsets = Offsets(report.source.text)

    def check(self, text: str) -> dict[str, Any]:
        """Analyse a program; its findings, what was not seen of it, and how long it took."""
        begun = time.perf_counter()
        self._set(analysis.analyse(text, self._path, memory=self._memory))
        return {
            "findings": [self._finding(found) for found in self._report.diagnostics],
            "notices": [self._notice(notice) for notice in self._report.notices],
            "seconds": time.perf_counter() - begun,
        }

    def cures(self, finding: int) -> dict[str, Any]:
        """The fixes of a finding, best first, each verified; or why there is none."""
        offer = analysis.offer(self._report, self._report.diagnostics[finding])
        cures = [
            {
                "title": fix.title,
                "effect": fix.effect,
                "edits": [{**self._offsets.range(edit.span), "insert": edit.content} for edit in fix.edits],
            }
            for fix in offer.fixes
            if not fix.others
        ]
        return {"cures": cures, "none": "" if cures else offer.no_fix or ""}

    def hover(self, at: int) -> dict[str, Any] | None:
        """What is known at an offset, as Markdown."""
        hover = self._hovers.at(*self._offsets.place(at))
        return None if hover is None else {"markdown": hover.markdown, **self._offsets.range(hover.span)}

    def graph(self, at: int) -> dict[str, Any]:
        """The graph of the finding, or of the expression, at an offset, as SVG, with the places of its boxes by their
        numbers; or why there is none.
        """
        try:
            picture = picture_at(self._report, *self._offsets.place(at))
        except Nothing as reason:
            return {"nothing": str(reason)}
        spots = {node.number: node.spot for node in picture.nodes if node.spot and node.spot.path == self._path}
        places = {str(number): self._offsets.rest_of_line(spot.row, spot.column) for number, spot in spots.items()}
        return {"svg": "\n".join(svg(picture, self._path)), "places": places}

    def explain(self, traceback: str) -> dict[str, Any]:
        """What predicts the exception of a traceback: rules, and findings of the program by their index."""
        found = raised_in(traceback)
        if not found:
            return {"heading": "", "rules": [], "findings": [], "row": None, "nearness": None}
        raised = _in_program(the_one(found), self._report.source)
        explanation = explained(raised, self._folder, lambda _: self._report, self._path)
        findings = [self._index(match.diagnostic) for match in explanation.matches]
        return {
            "heading": f"{raised.kind}: {raised.message}" if raised.kind else raised.message,
            "rules": [{"code": rule.code, "name": rule.name, "summary": rule.summary} for rule in explanation.rules],
            "findings": [index for index in findings if index is not None],
            "row": next((place.row for place in explanation.frames if place.row is not None), None),
            "nearness": explanation.matches[0].nearness.name if explanation.matches else None,
        }

    def _index(self, diagnostic: Diagnostic) -> int | None:
        places = [found.place for found in self._report.diagnostics]
        return places.index(diagnostic.place) if diagnostic.place in places else None

    def _finding(self, found: Diagnostic) -> dict[str, Any]:
        return {
            "code": found.code,
            "name": found.name,
            "severity": found.severity.word,
            "message": found.message,
            "details": [line for line in (found.raised, found.needs, found.help) if line],
            "steps": [self._step(step) for step in found.steps],
            "raisedAt": self._step(found.raised_at) if found.raised_at is not None else None,
            "isUnnecessary": found.is_unnecessary,
            **self._offsets.range(found.span),
        }

    def _step(self, step: Related) -> dict[str, Any]:
        """A step of a story; one in another file (a framework's program that is part of tapelint) has no place."""
        place = self._offsets.range(step.span) if step.filename == self._path else {}
        return {"message": step.message, **place}

    def _notice(self, notice: Notice) -> dict[str, Any]:
        words = " ".join(filter(None, (notice.message, notice.error, notice.help)))
        return {"message": words, **self._offsets.range(notice.span)}


def _in_program(raised: Raised, source: Source) -> Raised:
    """An exception with the frames that show a row of the program as frames of it, wherever it ran."""

    def named(frames: Iterable[Frame]) -> tuple[Frame, ...]:
        return tuple(
            replace(frame, path=source.path) if frame.code and row_of(frame, source) is not None else frame
            for frame in frames
        )

    return replace(raised, frames=named(raised.frames), forward=named(raised.forward))


def answering(folder: str) -> Callable[[str], str]:
    """A session, as a function from questions to answers. ``folder`` is an empty one of its own."""
    session = Session(folder)
    questions: dict[str, Callable[..., Any]] = {
        "check": session.check,
        "cures": session.cures,
        "hover": session.hover,
        "graph": session.graph,
        "explain": session.explain,
    }

    def answer(question: str) -> str:
        given = json.loads(question)
        return json.dumps(questions[given.pop("ask")](**given))

    return answer
