"""What the tests need of transformers: the `Trainer` that the analyser executes, and a parser that makes an object of
each dataclass with its defaults.
"""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)  # the folder of the analyser's `transformers`, which is on sys.path, too

from transformers.trainer import Seq2SeqTrainer, Trainer, TrainerCallback

__all__ = ["HfArgumentParser", "Seq2SeqTrainer", "Trainer", "TrainerCallback"]


class HfArgumentParser:
    def __init__(self, dataclass_types):
        self.kinds = dataclass_types if isinstance(dataclass_types, (tuple, list)) else [dataclass_types]

    def parse_args_into_dataclasses(self, return_remaining_strings=False):
        return (*(kind() for kind in self.kinds), *([[]] if return_remaining_strings else []))
