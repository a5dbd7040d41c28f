"""``textDocument/hover``: what autograd knows of the value under the pointer."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from lsprotocol import types

from ... import analysis
from ...hover import hover_at
from ..worker import Priority, Token

if TYPE_CHECKING:
    from ..server import Server

logger = logging.getLogger(__name__)


async def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
    """Answered on the worker, ahead of everything that only waits there; text that changes meanwhile has none."""
    outcome = await ls.pipeline.outcome(params.text_document.uri)
    if outcome is None or outcome.report is None:
        return None
    report, token = outcome.report, Token()
    above = outcome.snapshot.above(params.text_document.uri)
    if above is None:
        return None
    here = types.Position(params.position.line + above, params.position.character)
    row, column = outcome.rows.place(here, ls.client.encoding)
    try:
        job = ls.pipeline.worker.submit(
            lambda: hover_at(report, row, column, lambda: token() or outcome.token()), Priority.ANSWER, token
        )
        found = await job.future
    except analysis.Cancelled:
        return None
    except Exception:
        logger.exception("hover failed at %s:%s", row, column)
        return None
    finally:
        token.cancel()
    if found is None or outcome.token():
        return None
    kind, text = types.MarkupKind.Markdown, found.markdown
    if not ls.client.reads_markdown:
        kind, text = types.MarkupKind.PlainText, plain(text)
    return types.Hover(types.MarkupContent(kind, text), outcome.rows.range(found.span, ls.client.encoding, above))


def plain(markdown: str) -> str:
    """Markdown for those who cannot show it.

    >>> plain("**`y`** is a [leaf](https://x.org)")
    'y is a leaf (https://x.org)'
    """
    text = re.sub(r"(?m)^```\w*\n?", "", markdown)
    text = re.sub(r"\[([^\]]*)\]\(([^)]*)\)", r"\1 (\2)", text)
    text = re.sub(r"\*\*(.+?)\*\*", r"\1", text)
    return re.sub(r"`([^`\n]*)`", r"\1", text)
