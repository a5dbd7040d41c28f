"""Of the helpers only the split that is given its data for validation."""

from __future__ import annotations


def predefined_split(dataset):
    return lambda given, y=None: (given, dataset)
