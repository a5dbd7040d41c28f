"""tapelint in a terminal: a thin shell around the analysis.

Exit status: 0 nothing was found, 1 something was found, 2 something could not be done (and was said on stderr).
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable

import click

from .commands import tapelint

_INTERRUPTED = 130
_NOBODY_READS = 141


def collect_rarely() -> None:
    """Graphs are many objects that live as long as their analysis: to look for garbage among them takes a fifth of
    it.
    """
    gc.set_threshold(20_000, 10, 10)


def main(serve: Callable[[], None]) -> None:
    """Run the command line and exit; ``serve`` is what ``tapelint server`` does."""
    collect_rarely()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:  # a sign the terminal cannot show must not stop the report
            reconfigure(errors="backslashreplace")
    try:
        status = tapelint.main(prog_name="tapelint", obj=serve, standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        status = _INTERRUPTED
    except BrokenPipeError:
        # The reader has gone, as in `tapelint check . | head`. Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = _NOBODY_READS
    sys.exit(status or 0)
