"""What `from fastai.basics import *` brings, as far as it is modelled, and what fastai itself has imported."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor, tensor

from fastai.learner import SGD, Adam, Callback, DataLoaders, Learner, OptimWrapper, RAdam, RMSProp

__all__ = [
    "SGD",
    "Adam",
    "Callback",
    "DataLoaders",
    "F",
    "Learner",
    "OptimWrapper",
    "Path",
    "RAdam",
    "RMSProp",
    "Tensor",
    "nn",
    "partial",
    "tensor",
    "torch",
]
