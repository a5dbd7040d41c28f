"""What analyses, loaded when the first document needs it: that takes as long as all else that a server needs to start.

from . import deferred
deferred.analysis.analyse(text, path)     the first use imports ``tapelint.analysis``
"""

from __future__ import annotations

from contextlib import nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import delays

if TYPE_CHECKING:
    from importlib import metadata as metadata

    from .. import analysis as analysis
    from .. import coverage as coverage
    from .. import hover as hover
    from .. import picture as picture
    from .. import rules as rules
    from .. import tracebacks as tracebacks
    from ..analysis import cures_elsewhere as cures_elsewhere
    from ..analysis import fix_all as fix_all
    from ..engine import limits as limits
    from ..picture import forms as forms
    from ..picture import svg as svg
    from ..report import page as page
    from ..report import topics as topics
    from ..workspace import training_files as training_files

WHERE = {
    "metadata": "importlib.metadata",
    "analysis": "..analysis",
    "coverage": "..coverage",
    "hover": "..hover",
    "picture": "..picture",
    "forms": "..picture.forms",
    "svg": "..picture.svg",
    "rules": "..rules",
    "tracebacks": "..tracebacks",
    "cures_elsewhere": "..analysis.cures_elsewhere",
    "fix_all": "..analysis.fix_all",
    "limits": "..engine.limits",
    "page": "..report.page",
    "topics": "..report.topics",
    "training_files": "..workspace.training_files",
}
"""The modules, by the names that they have here."""


def __getattr__(name: str) -> Any:
    """A module, loaded now."""
    if name not in WHERE:
        raise AttributeError(name)
    with delays.loading() if name == "analysis" else nullcontext():  # before it is there, no program was analysed
        module = globals()[name] = import_module(WHERE[name], __package__)
    return module


def load() -> None:
    """Load what the first document will need, before it is opened. A thread with little to do may call this."""
    for name in ("analysis", "hover"):
        __getattr__(name)
