"""What the tests need of OmegaConf: items that are attributes, in nested dictionaries and lists too."""

import yaml
from munch import munchify


class OmegaConf:
    @staticmethod
    def create(items=None):
        return munchify(items or {})

    @staticmethod
    def load(path):
        with open(path) as file:
            return munchify(yaml.safe_load(file))
