"""Data, and how it is split."""

from __future__ import annotations

import torch


class Dataset(torch.utils.data.Dataset):
    """Rows of ``X`` with rows of ``y``, which may be missing."""

    def __init__(self, X, y=None, length=None):
        self.X = X
        self.y = y

    def __len__(self):
        return len(self.X)

    def transform(self, X, y):
        return X, torch.zeros(1) if y is None else y

    def __getitem__(self, i):
        return self.transform(self.X[i], None if self.y is None else self.y[i])


class Part(torch.utils.data.Dataset):
    """Some rows of a dataset."""

    def __init__(self, dataset, rows):
        self.dataset = dataset
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.dataset[self.rows[i]]


class ValidSplit:
    """One of ``cv`` parts is kept for validation."""

    def __init__(self, cv=5, stratified=False, random_state=None):
        self.cv = cv

    def __call__(self, dataset, y=None, groups=None):
        cut = len(dataset) // 5
        return Part(dataset, range(cut, len(dataset))), Part(dataset, range(cut))


FIFTH = ValidSplit(5)


def unpack_data(data):
    X, y = data
    return X, y
