"""Callbacks: the program's own are derived from `Callback`; most of skorch's only look and write down."""

from __future__ import annotations

import torch


class Callback:
    def initialize(self):
        return self

    def on_train_begin(self, net, X=None, y=None, **kwargs):
        """At the beginning of `fit`."""

    def on_train_end(self, net, X=None, y=None, **kwargs):
        """At its end."""

    def on_epoch_begin(self, net, dataset_train=None, dataset_valid=None, **kwargs):
        """Before the batches."""

    def on_epoch_end(self, net, dataset_train=None, dataset_valid=None, **kwargs):
        """After training and validation."""

    def on_batch_begin(self, net, batch=None, training=None, **kwargs):
        """Before each batch."""

    def on_batch_end(self, net, batch=None, training=None, **kwargs):
        """After each batch, with its loss and what was predicted."""

    def on_grad_computed(self, net, named_parameters, X=None, y=None, training=None, **kwargs):
        """After the backward pass, before the step."""


class GradientNormClipping(Callback):
    def __init__(self, gradient_clip_value=None, gradient_clip_norm_type=2):
        self.gradient_clip_value = gradient_clip_value
        self.gradient_clip_norm_type = gradient_clip_norm_type

    def on_grad_computed(self, net, named_parameters, **kwargs):
        if self.gradient_clip_value is not None:
            parameters = [parameter for _, parameter in named_parameters]
            torch.nn.utils.clip_grad_norm_(parameters, self.gradient_clip_value, self.gradient_clip_norm_type)


class _Watching(Callback):
    """Neither the graph nor a gradient is touched."""

    def __init__(self, *args, **kwargs):
        self.given = args, kwargs


BatchScoring = Checkpoint = EarlyStopping = EpochScoring = EpochTimer = LRScheduler = PassthroughScoring = _Watching
PrintLog = ProgressBar = TensorBoard = TrainEndCheckpoint = WandbLogger = MlflowLogger = NeptuneLogger = _Watching
