"""What all tests share: the package as it stands in the working tree, its records frozen, and hypothesis with fixed
seeds.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

# A shell without job control starts what runs in the background with Ctrl-C ignored, which its processes inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ["TAPELINT_FROZEN"] = "1"  # records that must not change cannot be changed

SERVER = str(Path(__file__).resolve().parents[1] / "server")
if SERVER not in sys.path:
    sys.path.insert(0, SERVER)

try:
    from hypothesis import HealthCheck, settings
except ImportError:  # the oracle's folder can be run without it
    pass
else:
    slow = [HealthCheck.too_slow]
    settings.register_profile("repeatable", derandomize=True, deadline=None, suppress_health_check=slow)
    settings.load_profile("repeatable")
