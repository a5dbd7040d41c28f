"""docs/commandline.md: every command with its arguments and options, made of the definitions that parse them."""

from __future__ import annotations

from collections.abc import Iterator

import click

from tapelint.cli.commands import tapelint

HEAD = """# The command line

Generated from the commands themselves (`python -m tools.docs`); `tapelint COMMAND --help` prints the same. Options that
ruff has too have its names and its
meaning here. What is printed, and how a run ends, is in [output](output.md).
"""


def page() -> str:
    """docs/commandline.md."""
    context = click.Context(tapelint)
    names = tapelint.list_commands(context)
    commands = (command for name in names if (command := tapelint.get_command(context, name)) and not command.hidden)
    return "\n".join([HEAD, *(row for command in commands for row in _section(command))])


def _section(command: click.Command) -> Iterator[str]:
    words = [
        param.make_metavar(click.Context(command)) for param in command.params if isinstance(param, click.Argument)
    ]
    about = (command.help or "").partition("\n\n")[0].replace("\b\n", "")
    yield from (
        f"## {command.name}",
        "",
        f"`{' '.join(('tapelint', str(command.name), *words))}`",
        "",
        _line(about),
        "",
    )
    options = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
    if options:
        yield from ("| option | what it does |", "|---|---|", *map(_row, options), "")


def _row(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    kinds = (
        f" ({', '.join(f'`{choice}`' for choice in option.type.choices)})"
        if isinstance(option.type, click.Choice)
        else ""
    )
    return f"| {names} | {_line(option.help or '')}{kinds} |"


def _line(text: str) -> str:
    """A text as a row of a table has it."""
    return " ".join(text.split()).replace("|", "\\|")
