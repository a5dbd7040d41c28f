"""What the tests need of Typer: a command is run with the defaults of its parameters."""

import inspect


class _Declared:
    def __init__(self, *given):
        self.given = given


Option = Argument = _Declared


def run(function):
    found = {}
    for name, parameter in inspect.signature(function).parameters.items():
        default = parameter.default
        found[name] = default.given[0] if isinstance(default, _Declared) else default
    return function(**found)


class Typer:
    def __init__(self):
        self.commands = []

    def command(self):
        return lambda function: self.commands.append(function) or function

    def __call__(self):
        (only,) = self.commands
        return run(only)
