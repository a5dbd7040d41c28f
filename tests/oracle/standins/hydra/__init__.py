"""What the tests need of Hydra: a function is given its configuration, composed as its files say."""

from pathlib import Path

import yaml
from munch import munchify
from omegaconf import resolved

from . import utils

__all__ = ["main", "utils"]


def main(config_path, config_name, version_base=None):
    def decorate(function):
        return lambda: function(munchify(resolved(_composed(Path(config_path), config_name.removesuffix(".yaml")))))

    return decorate


def _composed(folder, name):
    own = yaml.safe_load((folder / f"{name}.yaml").read_text())
    whole = {}
    for entry in own.pop("defaults", ["_self_"]):
        if entry == "_self_":
            whole.update(own)
            continue
        ((group, chosen),) = entry.items()
        if group.startswith("optional "):
            continue
        found = _composed(folder / group, chosen)
        for part in reversed(group.split("/")):
            found = {part: found}
        whole.update(found)
    return whole
