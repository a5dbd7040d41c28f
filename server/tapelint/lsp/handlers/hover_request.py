"""``textDocument/hover``: what autograd knows of the value under the pointer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lsprotocol import types

from ..worker import Priority

if TYPE_CHECKING:
    from ..server import Server


async def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    """Answered on the worker, ahead of everything that only waits there; text that changes meanwhile has none."""
    at = await ls.session.cursor(params.text_document.uri, params.position)
    if at is None or at.result.report is None:
        return None
    result, hovers = at.result, ls.session.hovers.get(at.result, at.result.report)
    findings = tuple(each.finding for each in result.subjects)
    found = await ls.session.answer(
        lambda: hovers.at(at.row, at.column, result.token, findings, not ls.client.hovers_findings),
        Priority.ANSWER,
        f"hover at {at.row}:{at.column}",
    )
    if found is None or result.token():
        return None
    kind, text = types.MarkupKind.Markdown, found.markdown
    if not ls.client.reads_markdown:
        kind, text = types.MarkupKind.PlainText, plain(text)
    area = result.rows.range(found.span, ls.client.encoding, at.row_offset)
    return types.Hover(types.MarkupContent(kind, text), area)


def plain(markdown: str) -> str:
    """Markdown for those who cannot show it.

    >>> plain("**`y`** is a [leaf](https://x.org)")
    'y is a leaf (https://x.org)'
    """
    text = re.sub(r"(?m)^```\w*\n?", "", markdown)
    text = re.sub(r"\[([^\]]*)\]\(([^)]*)\)", r"\1 (\2)", text)
    text = re.sub(r"\*\*(.+?)\*\*", r"\1", text)
    return re.sub(r"`([^`\n]*)`", r"\1", text)
