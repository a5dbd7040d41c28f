"""The options about the cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

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
