"""Regression: a net with a criterion that fits."""

from __future__ import annotations

import torch

from skorch.net import NeuralNet


class NeuralNetRegressor(NeuralNet):
    def __init__(self, module, *args, criterion=torch.nn.MSELoss, **kwargs):
        super().__init__(module, *args, criterion=criterion, **kwargs)
