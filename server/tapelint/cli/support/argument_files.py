"""Arguments in files: ``tapelint check @changed.txt`` has one argument on each line of changed.txt, as ruff has it.

The command lines of systems are limited, and build tools name thousands of files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import click

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
