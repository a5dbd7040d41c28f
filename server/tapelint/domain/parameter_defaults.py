"""The defaults of a function's parameters, and functions whose parameters have other ones."""

from __future__ import annotations

from dataclasses import replace

from .values import Function, Value, something


def defaults_of(function: Function) -> dict[str, Value]:
    """The defaults of the parameters that have one."""
    positional = [*function.node.args.posonlyargs, *function.node.args.args]
    found = {each.arg: value for each, value in zip(reversed(positional), reversed(function.defaults))}
    return found | dict(function.keyword_defaults)


def with_defaults(function: Function, given: dict[str, Value]) -> Function:
    """The function with other defaults for some parameters. Names of none are among those of its ``**kwargs``."""
    spec = function.node.args
    known = defaults_of(function) | given
    names = [each.arg for each in (*spec.posonlyargs, *spec.args)]
    first = next((index for index, name in enumerate(names) if name in known), len(names))
    defaults = tuple(known[name] if name in known else something(name) for name in names[first:])
    return replace(
        function,
        defaults=defaults,
        keyword_defaults=tuple((name, value) for name, value in known.items() if name not in names),
    )
