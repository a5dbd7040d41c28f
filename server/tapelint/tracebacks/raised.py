"""An exception as a traceback shows it."""

from __future__ import annotations

from ..frozen import frozen


@frozen
class Frame:
    """One call: a row (from 1) of a file, as the machine that ran it named it. ``code`` is the text of the row; empty
    where the traceback does not show it.
    """

    path: str
    row: int
    code: str = ""


@frozen
class Raised:
    """One exception. ``frames`` begin with the outermost call. ``forward`` are those of the forward that anomaly mode
    (``torch.autograd.set_detect_anomaly``) names as the cause.
    """

    kind: str
    message: str
    frames: tuple[Frame, ...] = ()
    forward: tuple[Frame, ...] = ()
