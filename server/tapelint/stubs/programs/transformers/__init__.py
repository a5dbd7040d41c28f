"""transformers: of the package only the `Trainer` is modelled."""

from __future__ import annotations

from transformers.trainer import Seq2SeqTrainer, Trainer, TrainerCallback

__all__ = ["Seq2SeqTrainer", "Trainer", "TrainerCallback"]
