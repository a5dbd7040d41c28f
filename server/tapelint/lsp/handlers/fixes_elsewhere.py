"""Shows what a fix has changed in other files, and offers to take it back: the user has seen none of them.

    {"command": "tapelint.showFix", "arguments": [{"title": "In net.py, ...", "documents": [...]}]}

The command belongs to a code action whose edit the client makes first. It opens the first of the other files at the
change, if the client can, and asks with the one answer "Undo". What is undone is undone in all files or in none: none,
if one of them has been edited since.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

from ...report.diagnostic import FileEdits, Fix
from ...source import changes
from ...workspace import Resolver
from ..analysis_result import AnalysisResult
from ..convert.positions import LineIndex

if TYPE_CHECKING:
    from ..server import Server

COMMAND = "tapelint.showFix"
UNDO = "Undo"


def command(ls: Server, result: AnalysisResult, fix: Fix) -> types.Command:
    """What the client is to run once it has made a fix that edits other files."""
    own = [FileEdits(result.snapshot.path, result.snapshot.text, fix.edits)] if fix.edits else []
    # The cells of a notebook are documents of the client's: what was changed there is undone there.
    can_undo = ls.client.applies_edits and not (own and result.snapshot.documents)
    documents = [_undoing(each, ls) for each in (*fix.others, *own)]
    made = {"title": fix.title, "undo": can_undo, "documents": documents}
    return types.Command("Show what has been changed", COMMAND, arguments=[made])


def _undoing(made: FileEdits, ls: Server) -> dict[str, object]:
    """A file after the edits: its text, and what makes the one before of it."""
    opened = ls.session.document_at(made.filename)
    uri = opened.uri if opened is not None else from_fs_path(made.filename)
    after = made.after
    rows = LineIndex(after)
    back = ((rows.range(edit.span, ls.client.encoding), edit.content) for edit in changes(after, (), made.text, ()))
    edits = [{"range": area, "newText": content} for area, content in back]
    return {"uri": uri, "after": _digest(after), "edits": edits}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


async def show(ls: Any, *arguments: Any) -> None:
    """The command; see ``about.information`` for why the server has no type here."""
    match arguments:
        case [{"title": str(title), "undo": bool(can_undo), "documents": [*documents]}, *_] if documents:
            if ls.client.shows_documents:
                area = ls.protocol._converter.structure(documents[0]["edits"][0]["range"], types.Range)
                ls.window_show_document(types.ShowDocumentParams(documents[0]["uri"], take_focus=True, selection=area))
            ls.session.spawn(_offer_undo(ls, title, can_undo, documents))


async def _offer_undo(ls: Server, title: str, can_undo: bool, documents: list[dict[str, Any]]) -> None:
    """Say what was done, and undo it if the user says so."""
    answers = [types.MessageActionItem(UNDO)] if can_undo else None
    asked = types.ShowMessageRequestParams(types.MessageType.Info, f"Done. {title}", answers)
    answer = await ls.window_show_message_request_async(asked)
    if answer is None or answer.title != UNDO:
        return
    changed = [each["uri"] for each in documents if _text(ls, each["uri"])[0] != each["after"]]
    if changed:
        names = ", ".join(PurePath(to_fs_path(uri) or uri).name for uri in changed)
        told = f"{names}: edited since then, so that nothing was undone."
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Warning, told))
        return
    edit = types.WorkspaceEdit(document_changes=[*_back(ls, documents)])
    if not ls.client.has_versioned_edits:
        edit = types.WorkspaceEdit(changes={each["uri"]: _edits(ls, each) for each in documents})
    await ls.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit, f"Undo: {title}"))


def _back(ls: Server, documents: list[dict[str, Any]]) -> Iterator[types.TextDocumentEdit]:
    for each in documents:
        version = _text(ls, each["uri"])[1]
        yield types.TextDocumentEdit(
            types.OptionalVersionedTextDocumentIdentifier(each["uri"], version), [*_edits(ls, each)]
        )


def _edits(ls: Server, document: Mapping[str, Any]) -> list[types.TextEdit]:
    structure = ls.protocol._converter.structure
    return [types.TextEdit(structure(each["range"], types.Range), each["newText"]) for each in document["edits"]]


def _text(ls: Server, uri: str) -> tuple[str, int | None]:
    """The digest of the text of a file as it is now, and its version if it is open."""
    path = to_fs_path(uri) or uri
    opened = ls.session.document_at(path)
    if opened is not None:
        return _digest(opened.text), opened.version
    return _digest(Resolver().text(path) or ""), None
