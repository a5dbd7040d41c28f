"""``textDocument/diagnostic``, ``workspace/diagnostic``: the client asks and is sent what it does not know yet."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import unquote

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
        return types.RelatedFullDocumentDiagnosticReport(items=ls.closed_files.diagnostics(uri))
    result = await ls.session.result(uri)
    if result is None:
        raise server_cancelled()
    if params.previous_result_id == result.result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result.result_id)
    return types.RelatedFullDocumentDiagnosticReport(items=result.published, result_id=result.result_id)


async def workspace_diagnostic(ls: Server, params: types.WorkspaceDiagnosticParams) -> types.WorkspaceDiagnosticReport:
    """The findings that the client does not know yet, in files that are open or not.

    A client that can wait asks again and again, and is answered when there is something that it does not know. One that
    has asked for parts is sent each file as soon as it is checked; one that knows nothing and takes no parts is
    answered once all files are checked.
    """
    known = {each.uri: each.value for each in params.previous_result_ids}
    token, is_first = params.partial_result_token, True
    can_wait = token is not None or bool(known)
    while True:
        news, is_busy = ls.closed_files.news, ls.closed_files.is_busy
        new, same = ls.closed_files.reports(known)
        if token is not None and new:
            part = types.WorkspaceDiagnosticReportPartialResult([*new, *same] if is_first else new)
            ls.progress(types.ProgressParams(token, part))
            known, is_first = _known_after(known, new), False
        elif not is_busy and (new or not can_wait):
            return types.WorkspaceDiagnosticReport([*new, *same])
        if not is_busy and not is_first:
            return types.WorkspaceDiagnosticReport([])
        await asyncio.shield(news)


def _known_after(known: dict[str, str], new: list[types.WorkspaceDocumentDiagnosticReport]) -> dict[str, str]:
    """What the client knows once it was sent ``new``."""
    sent = {unquote(report.uri): report for report in new}
    kept = {uri: name for uri, name in known.items() if unquote(uri) not in sent}
    return kept | {report.uri: report.result_id for report in sent.values() if report.result_id is not None}
