"""What the tests need of the parser of transformers: an object of each dataclass with its defaults."""


class HfArgumentParser:
    def __init__(self, dataclass_types):
        self.kinds = dataclass_types if isinstance(dataclass_types, (tuple, list)) else [dataclass_types]

    def parse_args_into_dataclasses(self, return_remaining_strings=False):
        return (*(kind() for kind in self.kinds), *([[]] if return_remaining_strings else []))
