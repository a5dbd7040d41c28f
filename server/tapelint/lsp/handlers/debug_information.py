"""The command ``tapelint.debugInformation``: what to paste into a bug report. It holds no text of the user's files."""

from __future__ import annotations

import platform
import sys
from dataclasses import asdict
from typing import Any

from ...compiled import engine
from .. import deferred

COMMAND = "tapelint.debugInformation"


def information(ls: Any) -> dict[str, Any]:
    """What there is to say of the server ``ls``.

    pygls resolves the hints of a command at run time, so ``Server``, which imports this module, cannot be one here.
    """
    client = asdict(ls.client)
    return {
        "tapelint": ls.version,
        "engine": engine(),
        "python": sys.version.split()[0],
        "executable": sys.executable,
        "platform": platform.platform(),
        "pygls": deferred.metadata.version("pygls"),
        "positionEncoding": ls.client.encoding,
        "diagnostics": "pull" if ls.client.pulls else "push",
        "client": client,
        "folders": [folder.uri for folder in ls.workspace.folders.values()],
        "documents": ls.session.describe(),
    }
