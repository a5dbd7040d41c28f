"""The command without a command: whole summaries of its commands, and arguments in files.

``tapelint check @changed.txt`` has one argument on each line of changed.txt, as ruff has it: the command lines of
systems are limited, and build tools name thousands of files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import click


class Commands(click.Group):
    """Commands with their summaries in full: the terminal wraps them. Arguments may come from files."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if ctx.resilient_parsing else with_files(args))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        shown = [(name, command) for name, command in commands if command and not command.hidden]
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(limit=200)) for name, command in shown])


PREFIX = "@"


class ArgumentFileError(click.ClickException):
    """A file of arguments that cannot be used; the message says which and why."""

    exit_code = 2


def with_files(arguments: Iterable[str]) -> list[str]:
    """The arguments, with those of files in their places; a file may name others. What is there under its whole name
    is no such file. Raises ArgumentFileError.
    """
    return list(_expanded(arguments, ()))


def _expanded(arguments: Iterable[str], within: tuple[str, ...]) -> Iterable[str]:
    for argument in arguments:
        if not argument.startswith(PREFIX) or os.path.lexists(argument):
            yield argument
            continue
        path = argument.removeprefix(PREFIX)
        if path in within:
            raise ArgumentFileError(f"{argument}: names itself")
        yield from _expanded(_lines(argument, path), (*within, path))


def _lines(argument: str, path: str) -> list[str]:
    """One argument a line; names of files that are no UTF-8 are kept as they are."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            text = file.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise ArgumentFileError(f"{argument}: cannot be read: {reason or error}") from error
    *lines, last = text.split("\n")
    return [line.removesuffix("\r") for line in (*lines, *filter(None, [last]))]
