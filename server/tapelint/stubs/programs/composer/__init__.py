"""Composer: a `Trainer` asks the model itself for its outputs and for the loss of them, and walks that."""

from __future__ import annotations

import torch


class ComposerModel(torch.nn.Module):
    """Knows its own loss; what it is called with is a whole batch."""

    def eval_forward(self, batch, outputs=None):
        return outputs if outputs is not None else self.forward(batch)


class Trainer:
    def __init__(self, *, model, train_dataloader=None, optimizers=None, eval_dataloader=None, **kwargs):
        self.model = model
        self.train_dataloader = train_dataloader
        self.optimizers = optimizers
        self.eval_dataloader = eval_dataloader

    def _optimizers(self):
        if self.optimizers is None:
            self.optimizers = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        return self.optimizers if isinstance(self.optimizers, (list, tuple)) else [self.optimizers]

    def fit(self, *, train_dataloader=None, **kwargs):
        optimizers = self._optimizers()
        for batch in train_dataloader if train_dataloader is not None else self.train_dataloader:
            self.model.train()
            for optimizer in optimizers:
                optimizer.zero_grad()
            outputs = self.model(batch)
            loss = self.model.loss(outputs, batch)
            loss.backward()
            for optimizer in optimizers:
                optimizer.step()

    def eval(self, eval_dataloader=None, **kwargs):
        self.model.eval()
        with torch.no_grad():
            for batch in eval_dataloader if eval_dataloader is not None else self.eval_dataloader:
                self.model.eval_forward(batch)
