"""The net of skorch: `fit` makes module, criterion and optimizer, and runs the epochs.

The optimizer is given a closure, `step_fn`, that clears the gradients and calls `train_step_single`: that infers, asks
`get_loss`, and walks what it gets.
"""

from __future__ import annotations

import torch

from skorch.dataset import FIFTH, Dataset, unpack_data


class History:
    """The results of each epoch: plain numbers."""

    def __init__(self):
        self.rows = []

    def new_epoch(self):
        self.rows.append({})

    def new_batch(self):
        """A row of its own for each batch."""

    def record(self, attr, value):
        self.rows[-1][attr] = value

    def record_batch(self, attr, value):
        self.rows[-1][attr] = value

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class NeuralNet:
    """What is given as ``module__width=8`` goes to the module; what ``fit`` has made ends in ``_``."""

    def __init__(
        self,
        module,
        criterion,
        optimizer=torch.optim.SGD,
        lr=0.01,
        max_epochs=10,
        batch_size=128,
        iterator_train=torch.utils.data.DataLoader,
        iterator_valid=torch.utils.data.DataLoader,
        dataset=Dataset,
        train_split=FIFTH,
        callbacks=None,
        predict_nonlinearity="auto",
        warm_start=False,
        verbose=1,
        device="cpu",
        compile=False,
        use_caching="auto",
        torch_load_kwargs=None,
        **kwargs,
    ):
        self.module = module
        self.criterion = criterion
        self.optimizer = optimizer
        self.lr = lr
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.iterator_train = iterator_train
        self.iterator_valid = iterator_valid
        self.dataset = dataset
        self.train_split = train_split
        self.callbacks = callbacks
        self.warm_start = warm_start
        self.verbose = verbose
        self.device = device
        self.further = kwargs
        self.history = History()
        self.callbacks_ = []
        self.initialized_ = False

    def get_params_for(self, prefix):
        start = prefix + "__"
        return {name[len(start) :]: value for name, value in self.further.items() if name.startswith(start)}

    def set_params(self, **kwargs):
        for name, value in kwargs.items():
            if "__" in name:
                self.further[name] = value
            else:
                setattr(self, name, value)
        if self.initialized_:
            self.initialize()
        return self

    def initialized_instance(self, instance_or_cls, kwargs):
        if isinstance(instance_or_cls, torch.nn.Module):
            return instance_or_cls
        return instance_or_cls(**kwargs)

    def initialize_callbacks(self):
        self.callbacks_ = []
        for callback in self.callbacks or []:
            name, callback = callback if isinstance(callback, tuple) else ("", callback)
            made = callback() if isinstance(callback, type) else callback
            made.initialize()
            self.callbacks_.append((name, made))
        return self

    def initialize_module(self):
        self.module_ = self.initialized_instance(self.module, self.get_params_for("module"))
        return self

    def initialize_criterion(self):
        self.criterion_ = self.initialized_instance(self.criterion, self.get_params_for("criterion"))
        return self

    def get_params_for_optimizer(self, prefix, named_parameters):
        kwargs = self.get_params_for(prefix)
        kwargs.setdefault("lr", self.lr)
        return ([parameter for _, parameter in named_parameters],), kwargs

    def get_all_learnable_params(self):
        yield from self.module_.named_parameters()
        if isinstance(self.criterion_, torch.nn.Module):
            yield from self.criterion_.named_parameters()

    def initialize_optimizer(self, triggered_directly=None):
        args, kwargs = self.get_params_for_optimizer("optimizer", self.get_all_learnable_params())
        self.optimizer_ = self.optimizer(*args, **kwargs)
        return self

    def initialize_history(self):
        self.history = History()
        return self

    def initialize(self):
        self.initialize_callbacks()
        self.initialize_module()
        self.initialize_criterion()
        self.initialize_optimizer()
        self.initialize_history()
        self.initialized_ = True
        return self

    def notify(self, method_name, **cb_kwargs):
        getattr(self, method_name)(self, **cb_kwargs)
        for _, callback in self.callbacks_:
            getattr(callback, method_name)(self, **cb_kwargs)

    def on_train_begin(self, net, X=None, y=None, **kwargs):
        """For those who override it, as those below."""

    def on_train_end(self, net, X=None, y=None, **kwargs):
        """For those who override it."""

    def on_epoch_begin(self, net, dataset_train=None, dataset_valid=None, **kwargs):
        self.history.new_epoch()

    def on_epoch_end(self, net, dataset_train=None, dataset_valid=None, **kwargs):
        """For those who override it."""

    def on_batch_begin(self, net, batch=None, training=False, **kwargs):
        self.history.new_batch()

    def on_batch_end(self, net, batch=None, training=False, **kwargs):
        """For those who override it."""

    def on_grad_computed(self, net, named_parameters, batch=None, training=False, **kwargs):
        """For those who override it."""

    def _set_training(self, training=True):
        self.module_.train(training)
        if isinstance(self.criterion_, torch.nn.Module):
            self.criterion_.train(training)

    def infer(self, x, **fit_params):
        if isinstance(x, dict):
            return self.module_(**x, **fit_params)
        return self.module_(x, **fit_params)

    def get_loss(self, y_pred, y_true, X=None, training=False):
        return self.criterion_(y_pred, y_true)

    def train_step_single(self, batch, **fit_params):
        self._set_training(True)
        Xi, yi = unpack_data(batch)
        y_pred = self.infer(Xi, **fit_params)
        loss = self.get_loss(y_pred, yi, X=Xi, training=True)
        loss.backward()
        return {"loss": loss, "y_pred": y_pred}

    def _zero_grad_optimizer(self, set_to_none=None):
        self.optimizer_.zero_grad()

    def _step_optimizer(self, step_fn):
        self.optimizer_.step(step_fn)

    def train_step(self, batch, **fit_params):
        steps = []

        def step_fn():
            self._zero_grad_optimizer()
            step = self.train_step_single(batch, **fit_params)
            steps.append(step)
            named = list(self.get_all_learnable_params())
            self.notify("on_grad_computed", named_parameters=named, batch=batch, training=True)
            return step["loss"]

        self._step_optimizer(step_fn)
        return steps[0]

    def validation_step(self, batch, **fit_params):
        self._set_training(False)
        Xi, yi = unpack_data(batch)
        with torch.no_grad():
            y_pred = self.infer(Xi, **fit_params)
            loss = self.get_loss(y_pred, yi, X=Xi, training=False)
        return {"loss": loss, "y_pred": y_pred}

    def evaluation_step(self, batch, training=False):
        Xi, _ = unpack_data(batch)
        with torch.set_grad_enabled(training):
            self._set_training(training)
            return self.infer(Xi)

    def get_dataset(self, X, y=None):
        return X if isinstance(X, torch.utils.data.Dataset) else self.dataset(X, y)

    def get_split_datasets(self, X, y=None, **fit_params):
        dataset = self.get_dataset(X, y)
        if not self.train_split:
            return dataset, None
        return self.train_split(dataset, y)

    def get_iterator(self, dataset, training=False):
        kwargs = self.get_params_for("iterator_train" if training else "iterator_valid")
        kwargs.setdefault("batch_size", self.batch_size)
        return (self.iterator_train if training else self.iterator_valid)(dataset, **kwargs)

    def run_single_epoch(self, iterator, training, prefix, step_fn, **fit_params):
        for batch in iterator:
            self.notify("on_batch_begin", batch=batch, training=training)
            step = step_fn(batch, **fit_params)
            self.history.record_batch(prefix + "_loss", step["loss"].item())
            self.notify("on_batch_end", batch=batch, training=training, **step)

    def fit_loop(self, X, y=None, epochs=None, **fit_params):
        dataset_train, dataset_valid = self.get_split_datasets(X, y, **fit_params)
        both = {"dataset_train": dataset_train, "dataset_valid": dataset_valid}
        train = self.get_iterator(dataset_train, training=True)
        valid = self.get_iterator(dataset_valid, training=False) if dataset_valid is not None else ()
        for _ in range(epochs if epochs is not None else self.max_epochs):
            self.notify("on_epoch_begin", **both)
            self.run_single_epoch(train, training=True, prefix="train", step_fn=self.train_step, **fit_params)
            self.run_single_epoch(valid, training=False, prefix="valid", step_fn=self.validation_step, **fit_params)
            self.notify("on_epoch_end", **both)
        return self

    def partial_fit(self, X, y=None, classes=None, **fit_params):
        if not self.initialized_:
            self.initialize()
        self.notify("on_train_begin", X=X, y=y)
        self.fit_loop(X, y, **fit_params)
        self.notify("on_train_end", X=X, y=y)
        return self

    def fit(self, X, y=None, **fit_params):
        if not self.warm_start or not self.initialized_:
            self.initialize()
        self.partial_fit(X, y, **fit_params)
        return self

    def forward_iter(self, X, training=False, device="cpu"):
        for batch in self.get_iterator(self.get_dataset(X), training=training):
            yield self.evaluation_step(batch, training=training)

    def forward(self, X, training=False, device="cpu"):
        return torch.cat(list(self.forward_iter(X, training=training, device=device)))

    def predict_proba(self, X):
        return torch.cat([output.detach() for output in self.forward_iter(X)]).numpy()

    def predict(self, X):
        return self.predict_proba(X)
