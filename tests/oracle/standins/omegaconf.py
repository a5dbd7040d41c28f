"""What the tests need of OmegaConf: items that are attributes, in nested dictionaries and lists too."""

from munch import munchify


class OmegaConf:
    @staticmethod
    def create(items=None):
        return munchify(items or {})
