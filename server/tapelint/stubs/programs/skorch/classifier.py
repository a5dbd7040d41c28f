"""Classifiers: the plain one is given probabilities, of which it takes the logarithm."""

from __future__ import annotations

import torch

from skorch.dataset import FIFTH
from skorch.net import NeuralNet


class NeuralNetClassifier(NeuralNet):
    def __init__(
        self,
        module,
        *args,
        criterion=torch.nn.NLLLoss,
        train_split=FIFTH,
        classes=None,
        **kwargs,
    ):
        super().__init__(module, *args, criterion=criterion, train_split=train_split, **kwargs)
        self.classes = classes

    def get_loss(self, y_pred, y_true, *args, **kwargs):
        if isinstance(self.criterion_, torch.nn.NLLLoss):
            y_pred = torch.log(y_pred + torch.finfo(y_pred.dtype).eps)
        return super().get_loss(y_pred, y_true, *args, **kwargs)

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


class NeuralNetBinaryClassifier(NeuralNet):
    def __init__(
        self,
        module,
        *args,
        criterion=torch.nn.BCEWithLogitsLoss,
        train_split=FIFTH,
        threshold=0.5,
        **kwargs,
    ):
        super().__init__(module, *args, criterion=criterion, train_split=train_split, **kwargs)
        self.threshold = threshold

    def infer(self, x, **fit_params):
        output = super().infer(x, **fit_params)
        if isinstance(output, tuple):
            return output[0].reshape(-1), *output[1:]
        return output.reshape(-1)
