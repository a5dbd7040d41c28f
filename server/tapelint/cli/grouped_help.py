"""How arguments are read and explained: ``--help`` with the options in groups, those of ruff, and whole summaries of
commands; values that may be absent; arguments in files.

``tapelint check @changed.txt`` has one argument on each line of changed.txt, as ruff has it: the command lines of
systems are limited, and build tools name thousands of files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import click

GROUPS = {
    "Options": (
        *("fix", "unsafe_fixes", "show_fixes", "diff", "watch", "fix_only", "ignore_noqa"),
        *("output_format", "story", "output_file"),
        *("statistics", "stats", "add_ignore", "show_files", "show_settings"),
    ),
    "Rule selection": (
        *("select", "ignore", "extend_select", "extend_ignore", "per_file_ignores", "extend_per_file_ignores"),
        *("fixable", "unfixable", "extend_fixable", "severity"),
    ),
    "File selection": ("exclude", "extend_exclude", "respect_gitignore", "force_exclude"),
    "Known findings": ("baseline", "write_baseline"),
    "Miscellaneous": (
        *("no_cache", "cache_dir", "stdin_filename", "exit_zero", "exit_non_zero_on_fix", "fail_on", "jobs"),
    ),
    "Log levels": ("verbose", "quiet", "silent", "log_level"),
    "Global options": ("config", "isolated", "color"),
}
"""The names of the options of ``check`` by heading, in order."""
_PLACES = {name: (heading, place) for heading, names in GROUPS.items() for place, name in enumerate(names)}
_LAST = ("Options", len(_PLACES))
"""Where ``--help`` stands."""
_OPTIONAL = ("--add-ignore",)
"""Options whose value may be left out: as in ruff it is what follows ``=``, never the next argument."""


class Grouped(click.Command):
    """A command with many options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [f"{each}=" if each in _OPTIONAL else each for each in args])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows: dict[str, dict[int, tuple[str, str]]] = {heading: {} for heading in GROUPS}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                heading, place = _PLACES.get(param.name or "", _LAST)
                rows[heading][place] = record
        for heading, records in rows.items():
            with formatter.section(heading):
                formatter.write_dl([record for _, record in sorted(records.items())])


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
