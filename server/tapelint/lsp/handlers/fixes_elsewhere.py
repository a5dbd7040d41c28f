"""Makes a fix that is offered outside of its file; shows what a fix has changed in other files, and offers to take it
back: the user has seen none of them.

    {"command": "tapelint.showFix", "arguments": [{"title": "In net.py, ...", "documents": [...]}]}

The command belongs to a code action whose edit the client makes first. It opens the first of the other files at the
change, if the client can, and asks with the one answer "Undo". What is undone is undone in all files or in none: none,
if one of them has been edited since.

    {"command": "tapelint.makeFix", "arguments": [{"title": "...", "documents": [...]}]}

It has the client apply the edits, then does the same. It answers whether they were applied: not, where one of the files
has another text by now.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

from ...report.diagnostic import FileEdits, Fix
from ...source import Edit, changes
from ...workspace import Resolver
from ..analysis_result import AnalysisResult
from ..convert.positions import LineIndex

if TYPE_CHECKING:
    from ..server import Server

COMMAND = "tapelint.showFix"
MAKE = "tapelint.makeFix"
UNDO = "Undo"


def command(ls: Server, result: AnalysisResult, fix: Fix) -> types.Command:
    """What the client is to run once it has made a fix that edits other files."""
    own = [FileEdits(result.snapshot.path, result.snapshot.text, fix.edits)] if fix.edits else []
    # The cells of a notebook are documents of the client's: what was changed there is undone there.
    can_undo = ls.client.applies_edits and not (own and result.snapshot.documents)
    documents = [_undoing(each, ls) for each in (*fix.others, *own)]
    made = {"title": fix.title, "undo": can_undo, "documents": documents}
    return types.Command("Show what has been changed", COMMAND, arguments=[made])


def making(ls: Server, title: str, changed: Iterable[FileEdits]) -> types.Command:
    """What makes a fix that changes these files."""
    documents = [
        {
            **_undoing(each, ls),
            "before": _digest(each.text),
            "made": _placed(each.text, each.edits, ls),
        }
        for each in changed
    ]
    return types.Command(title, MAKE, arguments=[{"title": title, "documents": documents}])


def _undoing(made: FileEdits, ls: Server) -> dict[str, object]:
    """A file after the edits: its text, and what makes the one before of it."""
    opened = ls.session.document_at(made.filename)
    uri = opened.uri if opened is not None else from_fs_path(made.filename)
    back = changes(made.after, (), made.text, ())
    return {"uri": uri, "after": _digest(made.after), "edits": _placed(made.after, back, ls)}


def _placed(text: str, edits: Iterable[Edit], ls: Server) -> list[dict[str, object]]:
    """Edits of a text as the protocol has them."""
    rows = LineIndex(text)
    return [{"range": rows.range(edit.span, ls.client.encoding), "newText": edit.content} for edit in edits]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


async def make(ls: Any, *arguments: Any) -> dict[str, object]:
    """The command that makes a fix; see ``about.information`` for why the server has no type here."""
    match arguments:
        case [{"title": str(title), "documents": [*documents]} as made, *_] if documents:
            if any(_text(ls, each["uri"])[0] != each["before"] for each in documents):
                told = "The text has changed since the fix was made, so that it was not applied."
                ls.window_show_message(types.ShowMessageParams(types.MessageType.Warning, told))
            elif await _apply(ls, title, documents, "made"):
                await show(ls, {**made, "undo": True})
                return {"applied": True}
    return {"applied": False}


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
    await _apply(ls, f"Undo: {title}", documents, "edits")


async def _apply(ls: Server, title: str, documents: list[dict[str, Any]], what: str) -> bool:
    """Have the client make the edits that the documents have under the name ``what``; whether it did."""
    structure = ls.protocol._converter.structure
    edits = {
        each["uri"]: [types.TextEdit(structure(edit["range"], types.Range), edit["newText"]) for edit in each[what]]
        for each in documents
    }
    edit = types.WorkspaceEdit(changes=edits)
    if ls.client.has_versioned_edits:
        versioned = types.OptionalVersionedTextDocumentIdentifier
        changed = [types.TextDocumentEdit(versioned(uri, _text(ls, uri)[1]), [*made]) for uri, made in edits.items()]
        edit = types.WorkspaceEdit(document_changes=[*changed])
    answer = await ls.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit, title))
    return answer.applied


def _text(ls: Server, uri: str) -> tuple[str, int | None]:
    """The digest of the text of a file as it is now, and its version if it is open."""
    path = to_fs_path(uri) or uri
    opened = ls.session.document_at(path)
    if opened is not None:
        return _digest(opened.text), opened.version
    return _digest(Resolver().text(path) or ""), None
