"""skorch: a network and its training as an estimator of scikit-learn."""

from __future__ import annotations

from skorch.classifier import NeuralNetBinaryClassifier, NeuralNetClassifier
from skorch.net import NeuralNet
from skorch.regressor import NeuralNetRegressor

__all__ = ["NeuralNet", "NeuralNetBinaryClassifier", "NeuralNetClassifier", "NeuralNetRegressor"]
