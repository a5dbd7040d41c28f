"""The tests of this folder run real PyTorch; where it is not installed they are not collected."""

import importlib.util
import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
if importlib.util.find_spec("torch") is None:
    collect_ignore_glob = ["test_*.py"]

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parent / "mdtest", HERE.parents[1] / "server"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
