"""Abseil's ``flags``: options that are declared one by one, each read as an attribute of ``FLAGS``, or of what declared
it.
"""

import argparse

_options = argparse.ArgumentParser(conflict_handler="resolve")  # a notebook may run its cells again
FLAGS, _ = _options.parse_known_args([])


class FlagHolder:
    def __init__(self, name):
        self.name = name

    @property
    def value(self):
        return getattr(FLAGS, self.name)


def DEFINE_string(name, default, help=None, *bounds, **how):
    _options.add_argument("--" + name, default=default)
    _options.parse_known_args([], FLAGS)
    return FlagHolder(name)


def DEFINE_bool(name, default, help=None, *bounds, **how):
    if default:
        _options.add_argument("--no" + name, dest=name, default=default, action="store_false")
    else:
        _options.add_argument("--" + name, default=default, action="store_true")
    _options.parse_known_args([], FLAGS)
    return FlagHolder(name)


def DEFINE_enum(name, default, enum_values, help=None, *bounds, **how):
    return DEFINE_string(name, default)


DEFINE_boolean = DEFINE_bool
DEFINE_integer = DEFINE_float = DEFINE_list = DEFINE_spaceseplist = DEFINE_string
DEFINE_multi_string = DEFINE_multi_integer = DEFINE_multi_float = DEFINE_string
DEFINE_enum_class = DEFINE_multi_enum = DEFINE_enum
