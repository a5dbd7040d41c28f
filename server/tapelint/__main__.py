"""``python -m tapelint``, which is the command ``tapelint``: here the two shells, terminal and editor, meet.

``-m`` puts the current folder first on ``sys.path``. That folder is analysed, not trusted: a ``click.py`` in it must
not be imported, so it is taken off before anything else is loaded.
"""

from __future__ import annotations

import gc
import os
import sys

if __name__ == "__main__" and sys.path and not sys.flags.isolated:
    try:
        here = os.getcwd()
    except OSError:  # it was deleted
        here = ""
    if sys.path[0] in ("", here):
        del sys.path[0]

from tapelint.cli import main as run


def main() -> None:
    """Run the command line and exit."""
    run(_serve)


def _serve() -> None:
    gc.disable()  # hardly anything that is loaded is garbage; to look for it takes 5 % of the start
    from tapelint.lsp.serving import serve

    serve()


if __name__ == "__main__":
    main()
