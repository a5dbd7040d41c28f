"""Settings and configuration files: read at the start, and again whenever the editor says they changed.

What is wrong with the configuration of open documents: said once, unless the user wants no notifications, and shown
in the file that it is about.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

from ...workspace import config, given
from ..convert.diagnostics import SOURCE
from ..settings import SECTION

if TYPE_CHECKING:
    from ..server import Server

CONFIGURATION = ".toml"
"""How files of the configuration end: others may extend one, and the editor may name one."""
WATCHED = ("**/*.py", "**/*.toml")
"""Files of the configuration, and files that others import."""


async def initialized(ls: Server, params: types.InitializedParams) -> None:
    """Ask to be informed of changes, read the settings, then let the analysis begin."""
    registrations = []
    if ls.client.registers_watchers:
        watchers = [types.FileSystemWatcher(glob) for glob in WATCHED]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        registrations.append(_registration(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options))
    if ls.client.registers_settings:
        section = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
        registrations.append(_registration(types.WORKSPACE_DID_CHANGE_CONFIGURATION, section))
    if registrations:
        ls.client_register_capability(types.RegistrationParams(registrations))
    await _fetch(ls)
    ls.offer_diagnostics()
    ls.session.release()
    ls.status.settle()


async def did_change(ls: Server, params: types.DidChangeConfigurationParams) -> None:
    """The editor's settings may have changed; a client that cannot be asked sends them along.

    VS Code says so the moment it is asked to tell, with nothing changed at all: what is found or on its way then stays.
    """
    if await _fetch(ls) if ls.client.has_settings else ls.settings.take(params.settings):
        _start_over(ls)


async def folders(ls: Server, params: types.DidChangeWorkspaceFoldersParams) -> None:
    """A folder came or went, and with it its settings."""
    if await _fetch(ls):
        _start_over(ls)


def watched_files(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
    """A configuration file changed on disk, or a file that others import or read."""
    if any(change.uri.endswith(CONFIGURATION) for change in params.changes):
        _start_over(ls)
    elif any(change.uri.endswith(".py") and change.type != types.FileChangeType.Changed for change in params.changes):
        ls.session.restart()  # an import may find another file from now on
        ls.refresh()
    else:
        for change in params.changes:
            if not ls.session.knows(change.uri):  # what the editor holds counts, not what it saved
                ls.session.touched(to_fs_path(change.uri) or "")


async def _fetch(ls: Server) -> bool:
    """Read the settings of a client that can be asked; whether they are others than before."""
    if not ls.client.has_settings:
        return False

    def ask(params: types.ConfigurationParams) -> asyncio.Future[Sequence[Any]]:
        return asyncio.wrap_future(ls.workspace_configuration(params))

    return await ls.settings.fetch(ask, [folder.uri for folder in ls.workspace.folders.values()])


def _start_over(ls: Server) -> None:
    config.forget()
    given.forget()
    ls.offer_diagnostics()
    ls.session.restart()
    ls.refresh()


def _registration(method: str, options: object) -> types.Registration:
    return types.Registration(id=str(uuid.uuid4()), method=method, register_options=options)


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
