"""``python -m tools.ops`` writes the op table from the installed PyTorch."""

from __future__ import annotations

import sys
from pathlib import Path

SERVER = Path(__file__).resolve().parents[2] / "server"
sys.path.insert(0, str(SERVER))

from tools.ops import generate  # noqa: E402

if __name__ == "__main__":
    generate.write(SERVER / "tapelint" / "ops")
