"""``tapelint server``: the language server on standard input and output."""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import NoReturn

from .. import __version__
from . import pauses
from .server import Server
from .transport import framing


def serve() -> NoReturn:
    """Speak the protocol over standard input and output, and exit with the code it prescribes."""
    # Does nothing where the environment has asked for another log (TAPELINT_LOG).
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    # At INFO pygls logs every message, and with it the user's text.
    logging.getLogger("pygls").setLevel(logging.WARNING)
    source, sink = framing.claim_standard_streams()
    pauses.shorten()
    try:
        code = asyncio.run(Server(__version__).run(source, sink))
    except KeyboardInterrupt:
        code = 1
    sys.exit(code)
