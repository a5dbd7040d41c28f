"""Objects that a configuration names."""

import importlib


def instantiate(config, *args, **kwargs):
    module, _, name = config["_target_"].rpartition(".")
    given = {key: value for key, value in config.items() if key != "_target_"}
    return getattr(importlib.import_module(module), name)(*args, **{**given, **kwargs})
