"""``workspace/diagnostic``: what the files show, open or not.

A client that can wait asks again and again, and is answered when there is something that it does not know. One that
has asked for parts is sent each file as soon as it is checked; one that knows nothing and takes no parts is answered
once all files are checked.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lsprotocol import types

if TYPE_CHECKING:
    from ..server import Server


async def diagnostic(ls: Server, params: types.WorkspaceDiagnosticParams) -> types.WorkspaceDiagnosticReport:
    """The findings that the client does not know yet."""
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
