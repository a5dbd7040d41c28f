"""What is known of single lines, for code lenses and inlay hints: computed when a client asks, which it does where a
setting wants them. It needs what hovers need, and shares it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lsprotocol import types

from . import deferred
from .analysis_result import AnalysisResult
from .client_capabilities import ClientCapabilities
from .session import Session
from .worker import Priority, Token

if TYPE_CHECKING:
    from ..hover import HoverProbe, Remark
    from ..source import Source

logger = logging.getLogger(__name__)

About = Callable[["HoverProbe", "Source"], Iterable["Remark"]]


async def of(
    session: Session, result: AnalysisResult, uri: str, client: ClientCapabilities, *about: About
) -> list[tuple[types.Range, str]]:
    """The places and texts in the client's document ``uri``; none once its text has changed."""
    if result.report is None:
        return []
    hovers = session.hovers.of(result, result.report)
    try:
        # Hovers go first: someone waits for those.
        job = session.worker.submit(
            lambda: [remark for each in about for remark in hovers.remarks(each, result.token)],
            Priority.ANALYSIS,
            Token(),
        )
        remarks = await job.future
    except deferred.analysis.Cancelled:
        return []
    except Exception:
        logger.exception("no remarks on the lines of %s", uri)
        return []
    placed = [(result.snapshot.cell_of(remark.span), remark) for remark in remarks if not result.token()]
    return [
        (result.rows.range(remark.span, client.encoding, row_offset), remark.text)
        for (owner, row_offset), remark in placed
        if unquote(owner) == unquote(uri)
    ]
