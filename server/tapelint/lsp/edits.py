"""Edits as the client applies them: tied to the version they were made for, so that newer text refuses them."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from ..source.edit import Edit
from .client import Client
from .outcome import Outcome


def workspace_edit(edits: Iterable[Edit], outcome: Outcome, client: Client) -> types.WorkspaceEdit:
    """``edits`` to the document of ``outcome``, versioned where the client can check it."""
    changes = [types.TextEdit(outcome.rows.range(edit.span, client.encoding), edit.content) for edit in edits]
    uri = outcome.snapshot.uri
    if not client.has_versioned_edits:
        return types.WorkspaceEdit(changes={uri: changes})
    document = types.OptionalVersionedTextDocumentIdentifier(uri, outcome.snapshot.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, changes)])
