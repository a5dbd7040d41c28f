"""Abseil's ``flags``: options that are declared one by one, each read as an attribute of ``FLAGS``."""

import argparse

_options = argparse.ArgumentParser(conflict_handler="resolve")  # a notebook may run its cells again
FLAGS, _ = _options.parse_known_args([])


def DEFINE_string(name, default, help=None, **how):
    _options.add_argument("--" + name, default=default)
    _options.parse_known_args([], FLAGS)


def DEFINE_bool(name, default, help=None, **how):
    _options.add_argument("--" + name, default=default, action=argparse.BooleanOptionalAction)
    _options.parse_known_args([], FLAGS)


def DEFINE_enum(name, default, enum_values, help=None, **how):
    DEFINE_string(name, default)


DEFINE_boolean = DEFINE_bool
DEFINE_integer = DEFINE_float = DEFINE_list = DEFINE_spaceseplist = DEFINE_string
DEFINE_multi_string = DEFINE_multi_integer = DEFINE_multi_float = DEFINE_string
DEFINE_multi_enum = DEFINE_enum
