"""The engine of PyTorch Ignite: one function, called for each batch, and handlers around it; and the function of
supervised training. A handler that waits for every hundredth event runs at each: some event is the one it waits for.
"""

from __future__ import annotations

import torch


class Event:
    """Something that happens while an engine runs; ``Events.A | Events.B`` is either."""

    def __init__(self, *names):
        self.names = names

    def __call__(self, event_filter=None, every=None, once=None, before=None, after=None):
        return self

    def __or__(self, other):
        return Event(*self.names, *other.names)


class Events:
    STARTED = Event("started")
    EPOCH_STARTED = Event("epoch started")
    GET_BATCH_STARTED = Event("get batch started")
    GET_BATCH_COMPLETED = Event("get batch completed")
    ITERATION_STARTED = Event("iteration started")
    ITERATION_COMPLETED = Event("iteration completed")
    EPOCH_COMPLETED = Event("epoch completed")
    COMPLETED = Event("completed")
    EXCEPTION_RAISED = Event("exception raised")
    TERMINATE = Event("terminate")


class State:
    """How far a run is."""

    def __init__(self):
        self.epoch = 0
        self.iteration = 0
        self.batch = None
        self.output = None


class Engine:
    """Calls ``process_function(engine, batch)`` for each batch of each epoch."""

    def __init__(self, process_function):
        self._process_function = process_function
        self._handlers = []
        self.state = State()

    def on(self, event_name, *args, **kwargs):
        def attach(handler):
            self.add_event_handler(event_name, handler, *args, **kwargs)
            return handler

        return attach

    def add_event_handler(self, event_name, handler, *args, **kwargs):
        if isinstance(event_name, Event):
            self._handlers.append((event_name.names, handler, args, kwargs))

    def _fire(self, name):
        for names, handler, args, kwargs in self._handlers:
            if name in names:
                handler(self, *args, **kwargs)

    def run(self, data=None, max_epochs=1, max_iters=None, epoch_length=None):
        self._fire("started")
        for _ in range(max_epochs):
            self.state.epoch += 1
            self._fire("epoch started")
            for batch in data:
                self.state.iteration += 1
                self.state.batch = batch
                self._fire("iteration started")
                self.state.output = self._process_function(self, batch)
                self._fire("iteration completed")
            self._fire("epoch completed")
        self._fire("completed")
        return self.state


def _prepare_batch(batch, device=None, non_blocking=False):
    x, y = batch
    return x, y


def _number(x, y, y_pred, loss):
    return loss.item()


def _itself(output):
    return output


def _called(model, x):
    return model(x)


def supervised_training_step(
    model,
    optimizer,
    loss_fn,
    device=None,
    non_blocking=False,
    prepare_batch=_prepare_batch,
    model_transform=_itself,
    output_transform=_number,
    gradient_accumulation_steps=1,
    model_fn=_called,
):
    """The update of one batch."""

    def update(engine, batch):
        if (engine.state.iteration - 1) % gradient_accumulation_steps == 0:
            optimizer.zero_grad()
        model.train()
        x, y = prepare_batch(batch, device=device, non_blocking=non_blocking)
        y_pred = model_transform(model_fn(model, x))
        loss = loss_fn(y_pred, y)
        if gradient_accumulation_steps > 1:
            loss = loss / gradient_accumulation_steps
        loss.backward()
        if engine.state.iteration % gradient_accumulation_steps == 0:
            optimizer.step()
        return output_transform(x, y, y_pred, loss * gradient_accumulation_steps)

    return update


def create_supervised_trainer(
    model,
    optimizer,
    loss_fn,
    device=None,
    non_blocking=False,
    prepare_batch=_prepare_batch,
    model_transform=_itself,
    output_transform=_number,
    deterministic=False,
    amp_mode=None,
    scaler=False,
    gradient_accumulation_steps=1,
    model_fn=_called,
):
    """An engine that trains."""
    return Engine(
        supervised_training_step(
            model,
            optimizer,
            loss_fn,
            device,
            non_blocking,
            prepare_batch,
            model_transform,
            output_transform,
            gradient_accumulation_steps,
            model_fn,
        )
    )


def _outputs(x, y, y_pred):
    return y_pred, y


def supervised_evaluation_step(
    model,
    device=None,
    non_blocking=False,
    prepare_batch=_prepare_batch,
    model_transform=_itself,
    output_transform=_outputs,
    model_fn=_called,
):
    """What a batch is evaluated with."""

    def evaluate_step(engine, batch):
        model.eval()
        with torch.no_grad():
            x, y = prepare_batch(batch, device=device, non_blocking=non_blocking)
            return output_transform(x, y, model_transform(model_fn(model, x)))

    return evaluate_step


def create_supervised_evaluator(
    model,
    metrics=None,
    device=None,
    non_blocking=False,
    prepare_batch=_prepare_batch,
    model_transform=_itself,
    output_transform=_outputs,
    amp_mode=None,
    model_fn=_called,
):
    """An engine that evaluates; its metrics are numbers."""
    step = supervised_evaluation_step(
        model, device, non_blocking, prepare_batch, model_transform, output_transform, model_fn
    )
    return Engine(step)
