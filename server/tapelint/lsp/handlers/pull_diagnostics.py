"""``textDocument/diagnostic``: the client asks, and is sent only what it does not know yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from ..transport.json_rpc import server_cancelled

if TYPE_CHECKING:
    from ..server import Server

OPTIONS = types.DiagnosticOptions(identifier="tapelint", inter_file_dependencies=True, workspace_diagnostics=True)


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
