"""Programs that use an installed library, with what tapelint says of them once it follows the library's code. PyTorch
raises where that is an error.
"""

from __future__ import annotations

from pathlib import Path

LIBRARY = {
    "lossy/__init__.py": """from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from .penalties import Penalty, clipped, shifted
def __getattr__(name):
    import importlib
    return getattr(importlib.import_module("lossy.penalties"), name)
""",
    "lossy/penalties.py": """import torch
from . import missing_without_gpu
def clipped(x, most):
    x.clamp_(max=most)
    return x
def shifted(x):
    return x + 1
class Penalty(torch.nn.Module):
    def forward(self, x):
        return x.detach().pow(2).mean()
""",
    "lossy/missing_without_gpu.py": "",
    "lossy-1.0.dist-info/METADATA": "Name: lossy\nRequires-Dist: torch\n",
    "lossy-1.0.dist-info/RECORD": "lossy/__init__.py,,\nlossy/penalties.py,,\n",
}
"""What it exports is looked up when it is asked for."""

WRITTEN = """import torch
from lossy import clipped
w = torch.ones(3, requires_grad=True)
y = w.exp()
clipped(y, 1.0)
y.sum().backward()
"""
DETACHED = """import torch
import lossy
net = torch.nn.Linear(3, 3)
loss = lossy.Penalty()(net(torch.ones(2, 3)))
loss.backward()
"""
DERIVED = """import torch
from lossy import Penalty
class Scaled(Penalty):
    def forward(self, x):
        return 2 * super().forward(x)
net = torch.nn.Linear(3, 3)
loss = Scaled()(net(torch.ones(2, 3)))
loss.backward()
"""
PROGRAMS: dict[str, tuple[str, list[tuple[str, str, int]]]] = {
    "written.py": (WRITTEN, [("TL201", "error", 5)]),
    "shifted.py": (WRITTEN.replace("clipped(y, 1.0)", "shifted(y)").replace("clipped", "shifted"), []),
    "detached.py": (DETACHED, [("TL301", "error", 5)]),
    "derived.py": (DERIVED, [("TL301", "error", 8)]),
}


def installed_in(site: Path) -> None:
    """Put the library into a folder of packages."""
    for name, text in LIBRARY.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
