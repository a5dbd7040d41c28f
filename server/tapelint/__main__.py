"""``python -m tapelint`` is the command ``tapelint``."""

from __future__ import annotations

from tapelint.cli import main

if __name__ == "__main__":
    main()
