"""The options about the cache, and the command that removes it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from typing import Any, TypeVar

import click

from ..streams import say, tell
from .store import caches_below

Command = TypeVar("Command", bound=Callable[..., Any])


def cache_options(command: Command) -> Command:
    """Give a command ``--no-cache`` and ``--cache-dir``."""
    folder = click.option(
        "--cache-dir",
        envvar="TAPELINT_CACHE_DIR",
        show_envvar=True,
        default="",
        metavar="CACHE_DIR",
        help="Path to the cache directory.",
    )
    without = click.option(
        "-n", "--no-cache", is_flag=True, envvar="TAPELINT_NO_CACHE", show_envvar=True, help="Disable cache reads."
    )
    return without(folder(command))


def clean() -> int:
    """Remove all caches in the current folder and below; the exit status."""
    status = 0
    for folder in caches_below(os.curdir):
        try:
            shutil.rmtree(folder)
        except OSError as error:
            tell("error", f"{os.path.normpath(folder)}: cannot be removed: {error.strerror or error}")
            status = 2
        else:
            say(f"Removing cache at: {os.path.normpath(folder)}")
    return status
