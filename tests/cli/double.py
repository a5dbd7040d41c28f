"""The command line with a double of the analysis, which says when it has begun, and whose files can wait for ever or
until another process is gone, die or be found faulty.
"""

import os
import signal
import time
from types import SimpleNamespace

from tapelint import analysis
from tapelint.cli import main
from tapelint.report import Diagnostic, Offer
from tapelint.severity import Severity
from tapelint.source import Span, parse


def exists(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def analyse(text, path, config, **rest):
    if "wait" in text:
        os.write(2, f"waiting {os.getpid()}\n".encode())
        while True:
            time.sleep(60)
    if "killed" in text or "once" in text and not os.path.exists("died"):
        with open("dying", "w") as note:
            note.write(str(os.getpid()))
        os.rename("dying", "died")
        os.kill(os.getpid(), signal.SIGKILL)
    if "later" in text:
        while not os.path.exists("died") or exists(int(open("died").read())):
            time.sleep(0.01)
    if "left" in text:
        os._exit(9)
    found = Diagnostic("TL101", "double", Severity.ERROR, "found", path, Span(1, 1, 1, 6))
    known = {"path": path, "source": parse(text, path), "diagnostics": (found,), "elsewhere": ()}
    return SimpleNamespace(stats={}, others={}, notices=(), walks={}, **known)


analysis.analyse, analysis.offer = analyse, lambda *of, **how: Offer()
main(lambda: None)
