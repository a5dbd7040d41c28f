"""``textDocument/hover``: what autograd knows of the value under the pointer."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from lsprotocol import types

from .. import deferred
from ..worker import Priority, Token

if TYPE_CHECKING:
    from ..server import Server

logger = logging.getLogger(__name__)


async def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    """Answered on the worker, ahead of everything that only waits there; text that changes meanwhile has none."""
    result = await ls.session.result(params.text_document.uri)
    if result is None or result.report is None:
        return None
    hovers, token = ls.session.hovers.get(result, result.report), Token()
    row_offset = result.snapshot.row_offset(params.text_document.uri)
    if row_offset is None:
        return None
    here = types.Position(params.position.line + row_offset, params.position.character)
    row, column = result.rows.place(here, ls.client.encoding)
    findings = tuple(each.finding for each in result.subjects)
    try:
        # One that has begun is not given up with its request: what it executes answers the next one as well.
        found = await ls.session.worker.submit(
            lambda: hovers.at(row, column, result.token, findings, not ls.client.hovers_findings),
            Priority.ANSWER,
            token,
        ).future
    except deferred.analysis.Cancelled:
        return None
    except Exception:
        logger.exception("hover failed at %s:%s", row, column)
        return None
    finally:
        token.cancel()
    if found is None or result.token():
        return None
    kind, text = types.MarkupKind.Markdown, found.markdown
    if not ls.client.reads_markdown:
        kind, text = types.MarkupKind.PlainText, plain(text)
    return types.Hover(types.MarkupContent(kind, text), result.rows.range(found.span, ls.client.encoding, row_offset))


def plain(markdown: str) -> str:
    """Markdown for those who cannot show it.

    >>> plain("**`y`** is a [leaf](https://x.org)")
    'y is a leaf (https://x.org)'
    """
    text = re.sub(r"(?m)^```\w*\n?", "", markdown)
    text = re.sub(r"\[([^\]]*)\]\(([^)]*)\)", r"\1 (\2)", text)
    text = re.sub(r"\*\*(.+?)\*\*", r"\1", text)
    return re.sub(r"`([^`\n]*)`", r"\1", text)
