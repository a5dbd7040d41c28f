"""One estimator behind others that transform its data."""

from __future__ import annotations


class Pipeline:
    def __init__(self, steps, *, memory=None, verbose=False):
        self.steps = steps

    def fit(self, X, y=None, **params):
        for _, step in self.steps[:-1]:
            X = step.fit_transform(X, y)
        self.steps[-1][1].fit(X, y)
        return self


def make_pipeline(*steps, memory=None, verbose=False):
    return Pipeline([(str(i), step) for i, step in enumerate(steps)])
