"""The loop of fastai: a `Learner` gives each batch to its model, walks the loss, steps, and calls its callbacks.

Its own optimizers write the data of parameters, which no version counter sees. A batch is data, of which the first
part is given to the model and the last one to the loss.
"""

from __future__ import annotations

import torch


class Callback:
    """Reads from the learner what it has not itself; ``learn`` is the learner."""

    learn = None

    def __getattr__(self, name):
        return getattr(self.learn, name)

    def before_fit(self):
        """Before the first epoch."""

    def before_epoch(self):
        """Before each epoch."""

    def before_train(self):
        """Before its batches."""

    def before_batch(self):
        """Before each batch."""

    def after_pred(self):
        """When `pred` is known."""

    def after_loss(self):
        """When `loss` is known, and `loss_grad`, which will be walked."""

    def before_backward(self):
        """Before the walk."""

    def after_backward(self):
        """After it."""

    def before_step(self):
        """Before the step."""

    def after_step(self):
        """After it, before gradients are cleared."""

    def after_batch(self):
        """After each batch."""

    def after_train(self):
        """After the batches of an epoch."""

    def before_validate(self):
        """Before those of validation."""

    def after_validate(self):
        """After them."""

    def after_epoch(self):
        """After each epoch."""

    def after_fit(self):
        """After the last one."""


class Optimizer:
    """What fastai steps with."""

    def __init__(self, params, lr=1e-3, **kwargs):
        self.params = list(params)
        self.lr = lr

    def step(self, closure=None):
        for parameter in self.params:
            if parameter.grad is not None:
                parameter.data.add_(parameter.grad.data, alpha=-self.lr)

    def zero_grad(self):
        for parameter in self.params:
            if parameter.grad is not None:
                parameter.grad.detach_()
                parameter.grad.zero_()


Adam = SGD = RMSProp = RAdam = Optimizer


class OptimWrapper:
    """An optimizer of torch."""

    def __init__(self, params=None, opt=None, lr=1e-3, **kwargs):
        self.opt = opt(params, lr=lr) if params is not None else opt

    def step(self, closure=None):
        self.opt.step()

    def zero_grad(self):
        self.opt.zero_grad()


class DataLoaders:
    """One to train with, one to validate with."""

    def __init__(self, *loaders, **kwargs):
        self.train = loaders[0]
        self.valid = loaders[-1]


class Learner:
    def __init__(
        self,
        dls,
        model,
        loss_func=None,
        opt_func=Adam,
        lr=1e-3,
        splitter=None,
        cbs: list | None = None,
        metrics=None,
        path=None,
        model_dir="models",
        wd=None,
        wd_bn_bias=False,
        train_bn=True,
        moms=(0.95, 0.85, 0.95),
        default_cbs=True,
    ):
        self.dls = dls
        self.model = model
        self.loss_func = loss_func
        self.opt_func = opt_func
        self.lr = lr
        self.opt = None
        self.cbs = []
        self.add_cbs(cbs)

    def add_cbs(self, cbs):
        for callback in cbs if isinstance(cbs, (list, tuple)) else [] if cbs is None else [cbs]:
            self.add_cb(callback)
        return self

    def add_cb(self, cb):
        made = cb() if isinstance(cb, type) else cb
        made.learn = self
        self.cbs.append(made)
        return self

    def __call__(self, event_name):
        for callback in self.cbs:
            getattr(callback, event_name)()

    def create_opt(self):
        self.opt = self.opt_func([p for p in self.model.parameters() if p.requires_grad], lr=self.lr)

    def _backward(self):
        self.loss_grad.backward()

    def _step(self):
        self.opt.step()

    def one_batch(self, i, b):
        self.iter = i
        self.xb, self.yb = b[0].detach(), b[-1].detach()
        self("before_batch")
        self.pred = self.model(self.xb)
        self("after_pred")
        self.loss_grad = self.loss_func(self.pred, self.yb)
        self.loss = self.loss_grad.clone()
        self("after_loss")
        if self.training:
            self("before_backward")
            self._backward()
            self("after_backward")
            self("before_step")
            self._step()
            self("after_step")
            self.opt.zero_grad()
        self("after_batch")

    def _do_epoch_train(self):
        self.training = True
        self.model.train()
        self("before_train")
        for i, b in enumerate(self.dls.train):
            self.one_batch(i, b)
        self("after_train")

    def _do_epoch_validate(self):
        self.training = False
        self.model.eval()
        with torch.no_grad():
            self("before_validate")
            for i, b in enumerate(self.dls.valid):
                self.one_batch(i, b)
            self("after_validate")

    def fit(self, n_epoch, lr=None, wd=None, cbs: list | None = None, reset_opt=False, start_epoch=0):
        self.add_cbs(cbs)
        if self.opt is None:
            self.create_opt()
        self("before_fit")
        for epoch in range(n_epoch):
            self.epoch = epoch
            self("before_epoch")
            self._do_epoch_train()
            self._do_epoch_validate()
            self("after_epoch")
        self("after_fit")

    def fit_one_cycle(self, n_epoch, lr_max=None, div=25.0, pct_start=0.25, wd=None, moms=None, cbs=None):
        self.fit(n_epoch, cbs=cbs)

    def fit_flat_cos(self, n_epoch, lr=None, div_final=1e5, pct_start=0.75, wd=None, cbs=None):
        self.fit(n_epoch, cbs=cbs)

    def fine_tune(self, epochs, base_lr=2e-3, freeze_epochs=1):
        self.fit(epochs)

    def validate(self, ds_idx=1, dl=None, cbs: list | None = None):
        self._do_epoch_validate()
