"""What is wrong with the configuration of open documents: said once, unless the user wants no notifications, and shown
in the file that it is about.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.uris import from_fs_path

from .convert.diagnostics import SOURCE

if TYPE_CHECKING:
    from .server import Server

CODE = "configuration"

_PLACE = re.compile(r"(?P<path>.+?\.toml)(?::(?P<line>\d+))?: (?P<what>.*)", re.DOTALL)
_LINE = re.compile(r"\bline (\d+)")
"""Where the parser of TOML says that it is, in the text of its error."""


class Complaints:
    """What is wrong, by document."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._by_document: dict[str, str] = {}
        self._told: set[str] = set()
        self._shown: dict[str, list[types.Diagnostic]] = {}

    def take(self, uri: str, complaint: str | None) -> None:
        """What is wrong with the configuration of a document, as ``ConfigError`` says it; None where nothing is, or
        where the document was closed.
        """
        if complaint is None:
            self._by_document.pop(uri, None)
        else:
            self._by_document[uri] = complaint
        known = {*self._by_document.values()}
        self._told &= known
        if complaint is not None and complaint not in self._told:
            self._told.add(complaint)
            if not self._server.settings.settings(uri).is_quiet:
                told = types.ShowMessageParams(types.MessageType.Error, f"tapelint: {complaint}")
                self._server.window_show_message(told)
        self._show(sorted(known))

    def _show(self, complaints: list[str]) -> None:
        """Show them in their files, and take back what is mended."""
        now: dict[str, list[types.Diagnostic]] = {}
        for complaint in complaints:
            placed = _PLACE.fullmatch(complaint)
            uri = from_fs_path(placed["path"]) if placed else None
            if placed and uri:
                now.setdefault(uri, []).append(_diagnostic(placed))
        for uri in {**now, **self._shown}:
            if now.get(uri) != self._shown.get(uri):
                self._server.show(uri, None, now.get(uri, []))
        self._shown = now


def _diagnostic(placed: re.Match[str]) -> types.Diagnostic:
    found = _LINE.search(placed["what"])
    line = int(placed["line"] or (found[1] if found else 1)) - 1
    area = types.Range(types.Position(line, 0), types.Position(line + 1, 0))
    said = placed["what"]
    return types.Diagnostic(area, said, types.DiagnosticSeverity.Error, code=CODE, source=SOURCE)
