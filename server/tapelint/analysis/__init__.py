"""The facade: text in, a report out. Total, pure, and the only thing the editor and the command line know.

>>> report = analyse("import torch\\ny = torch.ones(3, requires_grad=True).exp()\\ny += 1\\ny.sum().backward()\\n")
>>> [d.code for d in report.diagnostics]
['TL201']
"""

from __future__ import annotations

from ..engine.incremental import AnalysisCache
from ..engine.machine import Cancelled
from ..modules.shared_modules import SharedModules
from .checking import analyse, judged
from .execution import executed, made, run
from .file_report import Report
from .offers import differences, edited, fixes, offer, trials

__all__ = [
    "AnalysisCache",
    "Cancelled",
    "Report",
    "SharedModules",
    "analyse",
    "differences",
    "edited",
    "executed",
    "fixes",
    "judged",
    "made",
    "offer",
    "run",
    "trials",
]
