"""A trial of Tune: `setup` once, then `step` over and over."""

from __future__ import annotations


class Trainable:
    def __init__(self, config=None):
        self.config = config or {}
        self.setup(self.config)

    def train(self):
        return self.step()
