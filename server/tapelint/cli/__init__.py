"""tapelint in a terminal: a thin shell around the analysis.

Exit status: 0 nothing was found, 1 something was found, 2 something could not be done (and was said on stderr).
"""

from __future__ import annotations

import contextlib
import errno
import gc
import sys
from collections.abc import Callable

import click

from .commands import tapelint
from .signals import Interrupted
from .streams import NOBODY_READS, OutputError, ReaderGone, as_before, crash, discard, prepare, tell, writing

_FAILED = 2
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)
_INTERRUPTED = 130


def collect_rarely() -> None:
    """Graphs are many objects that live as long as their analysis: to look for garbage among them takes a fifth of
    it.
    """
    gc.set_threshold(20_000, 10, 3)


def main(serve: Callable[[], None]) -> None:
    """Run the command line and exit; ``serve`` is what ``tapelint server`` does."""
    collect_rarely()
    prepare()
    with as_before():
        status = _status(serve)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, AttributeError):
            discard(stream)
    sys.exit(status)


def _status(serve: Callable[[], None]) -> int:
    """Run the command line; the exit status. Nothing is raised: what happens is said in one line."""
    try:
        with writing():  # says at once if standard output is closed
            pass
        status = tapelint.main(prog_name="tapelint", obj=serve, standalone_mode=False)
        with writing():
            sys.stdout.flush()
    except click.ClickException as error:
        with contextlib.suppress(OSError):
            error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort) as error:
        reason = error if isinstance(error, Interrupted) else error.__cause__
        return reason.status if isinstance(reason, Interrupted) else _INTERRUPTED
    except (ReaderGone, SystemExit) as error:  # click exits when its help is not read, and after a completion
        if isinstance(error, SystemExit) and not error.code:
            return 0
        discard(sys.stdout, sys.stderr)
        return NOBODY_READS
    except OutputError as error:
        return _unwritten(str(error))
    except OSError as error:
        if error.filename is None and error.errno in _FULL:  # click's help
            return _unwritten(error.strerror or str(error))
        crash(error)
        return _FAILED
    except Exception as error:
        crash(error)
        return _FAILED
    return status or 0


def _unwritten(reason: str) -> int:
    discard(sys.stdout)
    tell("error", f"standard output cannot be written: {reason}")
    return _FAILED
