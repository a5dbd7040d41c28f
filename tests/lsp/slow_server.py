"""The real server, slowed down as by a large file: four seconds for a text that says ``# slow``."""

from __future__ import annotations

import time

from tapelint import analysis

quick = analysis.analyse


def slow(text, path="<stdin>", config=None, cancel=None, resolve=None, memory=None):
    end = time.monotonic() + (4 if "# slow" in text else 0)
    while time.monotonic() < end:
        if cancel is not None and cancel():
            raise analysis.Cancelled
        sum(range(10_000))  # busy, as an analysis is: it shares the interpreter with the loop
    print("not part of the protocol: it must end up in the log")
    return quick(text, path, config, cancel, resolve, memory)


analysis.analyse = slow

if __name__ == "__main__":
    from tapelint.lsp import serve

    serve()
