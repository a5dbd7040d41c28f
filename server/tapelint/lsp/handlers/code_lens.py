"""``textDocument/codeLens``: what the settings switch on is shown above the lines it is about.

tapelint.codeLens.backward    frees the graph of 37 operations, fills .grad of 20 leaves
tapelint.codeLens.step        writes 20 parameters
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from .. import deferred, line_remarks
from ..settings import Shown

if TYPE_CHECKING:
    from ..server import Server

OPTIONS = types.CodeLensOptions(resolve_provider=False)
ABOUT: dict[Shown, line_remarks.About] = {
    Shown.BACKWARD: lambda probe, source: deferred.hover.backwards(probe, source),
    Shown.STEP: lambda probe, source: deferred.hover.steps(probe, source),
}


async def lenses(ls: Server, params: types.CodeLensParams) -> list[types.CodeLens] | None:
    """The lenses of a document; None where no setting asks for any. They run nothing: their command has no name."""
    uri = params.text_document.uri
    shown = ls.session.settings_of(uri).shown
    wanted = [about for setting, about in ABOUT.items() if setting in shown]
    result = await ls.session.result(uri) if wanted else None
    if result is None:
        return None
    remarks = await line_remarks.of(ls.session, result, uri, ls.client, *wanted)
    return [types.CodeLens(area, types.Command(text.replace("`", ""), "")) for area, text in remarks]
