"""Makes the generators in ``tools`` importable."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for folder in (ROOT, ROOT / "server"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
