"""The Trainer of transformers: `training_step` asks `compute_loss` for the loss of a batch and walks it, then the
optimizer steps.

Modelled as if every batch were a step of its own: how many are accumulated stands in arguments that are hardly ever
known.
"""

from __future__ import annotations

from contextlib import nullcontext

import torch
from accelerate import Accelerator


class TrainerCallback:
    def on_train_begin(self, args, state, control, **kwargs):
        """Before the first epoch."""

    def on_step_begin(self, args, state, control, **kwargs):
        """Before each batch."""

    def on_pre_optimizer_step(self, args, state, control, **kwargs):
        """After the backward pass."""

    def on_step_end(self, args, state, control, **kwargs):
        """After the step, when gradients are cleared."""

    def on_train_end(self, args, state, control, **kwargs):
        """After the last epoch."""


class TrainerState:
    """How far it has come."""

    def __init__(self):
        self.epoch = 0
        self.global_step = 0


class Trainer:
    def __init__(
        self,
        model=None,
        args=None,
        data_collator=None,
        train_dataset=None,
        eval_dataset=None,
        processing_class=None,
        model_init=None,
        compute_loss_func=None,
        compute_metrics=None,
        callbacks: list | None = None,
        optimizers=(None, None),
        optimizer_cls_and_kwargs=None,
        preprocess_logits_for_metrics=None,
        tokenizer=None,
    ):
        self.model = model
        self.args = args
        self.data_collator = data_collator
        self.train_dataset = train_dataset
        self.eval_dataset = eval_dataset
        self.processing_class = processing_class
        self.model_init = model_init
        self.compute_loss_func = compute_loss_func
        self.compute_metrics = compute_metrics
        self.callbacks = list(callbacks or [])
        self.optimizer, self.lr_scheduler = optimizers
        self.state = TrainerState()
        self.control = None
        self.accelerator = Accelerator()

    def add_callback(self, callback):
        self.callbacks.append(callback)

    def log(self, logs, start_time=None):
        """Numbers, written down."""

    def save_model(self, output_dir=None, _internal_call=False):
        """Written to disk."""

    def is_world_process_zero(self):
        return True

    def get_train_dataloader(self):
        size = getattr(self.args, "per_device_train_batch_size", 8)
        return torch.utils.data.DataLoader(self.train_dataset, batch_size=size, collate_fn=self.data_collator)

    def get_eval_dataloader(self, eval_dataset=None):
        data = eval_dataset if eval_dataset is not None else self.eval_dataset
        return torch.utils.data.DataLoader(data, batch_size=8, collate_fn=self.data_collator)

    def create_optimizer(self):
        if self.optimizer is None:
            trained = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
            self.optimizer = torch.optim.AdamW(trained, lr=5e-5)
        return self.optimizer

    def create_scheduler(self, num_training_steps, optimizer=None):
        return self.lr_scheduler

    def create_optimizer_and_scheduler(self, num_training_steps):
        self.create_optimizer()
        self.create_scheduler(num_training_steps, self.optimizer)

    def _prepare_inputs(self, inputs):
        return inputs

    def compute_loss_context_manager(self):
        return nullcontext()

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        if self.compute_loss_func is not None:
            labels = inputs.pop("labels")
            outputs = model(**inputs)
            loss = self.compute_loss_func(outputs, labels, num_items_in_batch=num_items_in_batch)
        else:
            outputs = model(**inputs)
            loss = outputs["loss" if isinstance(outputs, dict) else 0]
        return (loss, outputs) if return_outputs else loss

    def training_step(self, model, inputs, num_items_in_batch=None):
        model.train()
        inputs = self._prepare_inputs(inputs)
        with self.compute_loss_context_manager():
            loss = self.compute_loss(model, inputs, num_items_in_batch=num_items_in_batch)
        self.accelerator.backward(loss)
        return loss.detach()

    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        inputs = self._prepare_inputs(inputs)
        with torch.no_grad():
            loss, outputs = self.compute_loss(model, inputs, return_outputs=True)
        return loss.detach(), None if prediction_loss_only else outputs, None

    def _notify(self, event):
        for callback in self.callbacks:
            getattr(callback, event)(self.args, self.state, self.control, model=self.model, optimizer=self.optimizer)

    def train(self, resume_from_checkpoint=None, trial=None, ignore_keys_for_eval=None):
        if self.model_init is not None:
            self.model = self.model_init()
        model, loader = self.model, self.get_train_dataloader()
        self.create_optimizer_and_scheduler(100)
        self._notify("on_train_begin")
        for _ in range(getattr(self.args, "num_train_epochs", 3)):
            for inputs in loader:
                self._notify("on_step_begin")
                self.training_step(model, inputs, None)
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                self._notify("on_pre_optimizer_step")
                self.optimizer.step()
                model.zero_grad()
                self.state.global_step += 1
                self._notify("on_step_end")
        self._notify("on_train_end")
        return self.state

    def evaluate(self, eval_dataset=None, ignore_keys=None, metric_key_prefix="eval"):
        self.model.eval()
        found = []
        for inputs in self.get_eval_dataloader(eval_dataset):
            loss, _, _ = self.prediction_step(self.model, inputs, True)
            found.append(loss.item())
        return {metric_key_prefix + "_loss": sum(found) / len(found)}


class Seq2SeqTrainer(Trainer):
    """Trains as any."""
