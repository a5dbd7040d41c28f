"""What an option is where it is left out, however the program declares it."""

from __future__ import annotations

import ast
from collections.abc import Collection

from ...domain.options import Option, is_hashable, left_at, optional
from ...domain.parameter_defaults import defaults_of, with_defaults
from ...domain.state import State
from ...domain.values import NONE, Const, External, Function, HeapRef, Tuple, Unknown, Value, something
from ...engine.machine import Machine

CONVERTERS = {"builtins.bool": bool, "builtins.int": int, "builtins.float": float, "builtins.str": str}
"""What a ``type`` makes of a default that is text."""


def left_out(default: Value, flag: str, name: str, convert: Value | None = None) -> Value:
    """The value of an option that is called ``name`` and given as ``flag``."""
    if not isinstance(default, Const) or not is_hashable(default):
        return default if isinstance(default, (HeapRef, Tuple)) else something(name, False)  # it may be iterated
    known = _converted(default, convert)
    return something(name, False) if known is None else optional(Option(known, left_at(flag, known)), name)


def switch(default: bool, flag: str, name: str) -> Value:
    """The value of an option that is turned round by ``flag``."""
    return optional(Option(Const(default), f"`{flag}` is given", (Const(not default),)), name)


def _converted(default: Const, convert: Value | None) -> Const | None:
    """The default as ``type=`` reads it where it is a text; None where that raises."""
    if isinstance(convert, External) and isinstance(default.value, str) and convert.name in CONVERTERS:
        try:
            return Const(CONVERTERS[convert.name](default.value))
        except ValueError:
            return None
    return default


def of_parameters(function: Function) -> Function:
    """A function whose parameters are given on the command line: ``lr=0.1`` is the option ``--lr``."""
    found = {name: of_default(default, name) for name, default in defaults_of(function).items()}
    return with_defaults(function, found)


def of_default(default: Value, name: str, joint: str = "-") -> Value:
    """The option of which the program states only the name and the default; ``joint`` stands between the words of its
    flag.
    """
    flag = name.replace("_", joint)
    if isinstance(default, Const) and isinstance(default.value, bool):
        return switch(default.value, f"--no{joint}{flag}" if default.value else f"--{flag}", name)
    return left_out(default, f"--{flag}", name)


def given_in(machine: Machine, state: State, words: Value, node: ast.AST) -> set[str]:
    """The names of the options that a list of words in the program gives: they have no default any more."""
    if words == NONE:
        return set()
    found = [str(word.value) for word in machine.iterate(state, words, node).values if isinstance(word, Const)]
    names = {word.partition("=")[0].lstrip("-").replace("-", "_") for word in found if word.startswith("-")}
    return names | {name.removeprefix("no_") for name in names}


def given(names: Collection[str], options: dict[str, Value]) -> dict[str, Value]:
    """Those of the options that have these names, as they are where they are given: a switch is turned round."""
    return {name: _turned(value, name) for name, value in options.items() if name in names}


def _turned(value: Value, name: str) -> Value:
    option = value.formula if isinstance(value, Unknown) else None
    others = option.others if isinstance(option, Option) else None
    return others[0] if others is not None and len(others) == 1 else something(name, False)
