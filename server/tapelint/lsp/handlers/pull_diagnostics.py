"""``textDocument/diagnostic``: the client asks, and is sent only what it does not know yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from ..transport.json_rpc import server_cancelled

if TYPE_CHECKING:
    from ..server import Server


def options(in_workspace: bool) -> types.DiagnosticOptions:
    """What the client may ask for. One that may ask for the workspace leaves it to those answers to clear what a file
    shows that was closed, so that it must not where only open files are checked.
    """
    return types.DiagnosticOptions(True, in_workspace, "tapelint")


def registration(in_workspace: bool) -> types.Registration:
    """The same, for a client that can be told later: the settings decide, and may change."""
    own = options(in_workspace)
    told = types.DiagnosticRegistrationOptions(
        own.inter_file_dependencies, own.workspace_diagnostics, identifier=own.identifier
    )
    return types.Registration(types.TEXT_DOCUMENT_DIAGNOSTIC, types.TEXT_DOCUMENT_DIAGNOSTIC, told)


async def diagnostic(ls: Server, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
    """The findings of the text as it is now; newer text in the meantime makes the client ask again."""
    uri = params.text_document.uri
    if not ls.session.knows(uri):
        return types.RelatedFullDocumentDiagnosticReport(items=ls.closed_files.of(uri))
    result = await ls.session.result(uri)
    if result is None:
        raise server_cancelled()
    if params.previous_result_id == result.result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result.result_id)
    return types.RelatedFullDocumentDiagnosticReport(items=result.published, result_id=result.result_id)
