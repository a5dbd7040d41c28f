"""The defaults of a function's parameters."""

from __future__ import annotations

from .values import Function, Value


def defaults_of(function: Function) -> dict[str, Value]:
    """The defaults of the parameters that have one."""
    positional = [*function.node.args.posonlyargs, *function.node.args.args]
    found = {each.arg: value for each, value in zip(reversed(positional), reversed(function.defaults))}
    return found | dict(function.keyword_defaults)
