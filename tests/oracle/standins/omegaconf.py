"""What the tests need of OmegaConf: items that are attributes, in nested dictionaries and lists too."""

import re

import yaml
from munch import munchify

REFERENCE = re.compile(r"\$\{([^}]*)\}")


class OmegaConf:
    @staticmethod
    def create(items=None):
        return munchify(items or {})

    @staticmethod
    def load(path):
        with open(path) as file:
            return munchify(resolved(yaml.safe_load(file)))


def resolved(whole):
    """A configuration whose interpolations are replaced by the values of the keys that they name."""
    return _resolved(whole, [whole])


def _resolved(value, chain):
    if isinstance(value, dict):
        return {key: _resolved(each, [*chain, each]) for key, each in value.items()}
    if isinstance(value, list):
        return [_resolved(each, [*chain, each]) for each in value]
    if not isinstance(value, str):
        return value
    if whole := REFERENCE.fullmatch(value):
        return _referred(whole[1], chain[:-1])
    return REFERENCE.sub(lambda found: str(_referred(found[1], chain[:-1])), value)


def _referred(name, chain):
    path = name.lstrip(".")
    dots = len(name) - len(path)
    chain = chain[: len(chain) + 1 - dots] if dots else chain[:1]
    for part in path.split("."):
        found = chain[-1]
        chain = [*chain, found[int(part) if isinstance(found, list) else part]]
    return _resolved(chain[-1], chain)
