"""The real server, slowed down: two seconds for a text that says ``# slow``, no end where it says ``# endless``; two
seconds to see what edits do to a text that says ``# slow fixes``, no end where it says ``# fixes without end``. The log
says what is tried.
"""

from __future__ import annotations

import math
import time

from tapelint import analysis
from tapelint.analysis import offers

quick, edited = analysis.analyse, analysis.edited


def slow(text, path="<stdin>", config=None, cancel=None, resolve=None, memory=None, is_imported=None, **rest):
    said = text if isinstance(text, str) else text.text
    end = time.monotonic() + (math.inf if "# endless" in said else 2 if "# slow" in said else 0)
    while time.monotonic() < end:
        if cancel is not None and cancel():
            raise analysis.Cancelled
        sum(range(10_000))  # busy, as an analysis is: it shares the interpreter with the loop
    print("not part of the protocol: it must end up in the log")
    return quick(text, path, config, cancel, resolve, memory)


def edited_slowly(report, edits, cancel=None, memory=None):
    print("trying a fix")
    if "# slow fixes" in report.source.text:
        time.sleep(2)
    while "# fixes without end" in report.source.text:
        if cancel is not None and cancel():
            raise analysis.Cancelled
        sum(range(10_000))
    return edited(report, edits, cancel, memory)


analysis.analyse = slow
analysis.edited = offers.edited = edited_slowly

if __name__ == "__main__":
    from tapelint.lsp.server import serve

    serve()
