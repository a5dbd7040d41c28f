"""Makes the package as it stands in the working tree, and the literate tests, importable."""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
for folder in (TESTS / "mdtest", TESTS.parent / "server"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
