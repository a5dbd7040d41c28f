"""Makes this folder's helpers, and the package as it stands in the working tree, importable."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parents[1] / "server"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
