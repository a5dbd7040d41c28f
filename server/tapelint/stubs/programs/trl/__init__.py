"""trl: its trainer for supervised fine-tuning is that of transformers, with data of its own."""

from __future__ import annotations

from transformers.trainer import Trainer


class SFTTrainer(Trainer):
    def __init__(self, model=None, args=None, data_collator=None, train_dataset=None, eval_dataset=None, **kwargs):
        super().__init__(model, args, data_collator, train_dataset, eval_dataset)
