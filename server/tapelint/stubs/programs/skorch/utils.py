"""Of the tools only how data becomes tensors, and arrays."""

from __future__ import annotations

import torch


def to_tensor(X, device="cpu", accept_sparse=False):
    return torch.as_tensor(X).to(device)


def to_device(X, device):
    return X if device is None else X.to(device)


def to_numpy(X):
    return X.detach().cpu().numpy()
