"""Options of a run: how it speaks, when it fails and which cache it uses, with the names and words of ruff."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

import click

from ..frozen import frozen

LEVELS = click.Choice(["error", "warning", "information", "hint"])


@frozen
class Manner:
    """``quiet``: what was found and what could not be done, nothing else; ``silent``: nothing; ``verbose``: the log,
    too. ``color``: when there is any.
    """

    verbose: bool = False
    quiet: bool = False
    silent: bool = False
    color: str = "auto"
    watch: bool = False
    ignore_noqa: bool = False
    statistics: bool = False
    output_file: str | None = None
    exit_zero: bool = False
    exit_non_zero_on_fix: bool = False
    write_baseline: bool = False

    @property
    def log_level(self) -> str:
        """The level of the log that is asked for; empty where none is."""
        return "debug" if self.verbose else ""

    @property
    def is_terse(self) -> bool:
        """Whether only what was found is printed, if anything."""
        return self.quiet or self.silent


_OPTIONS = (
    click.option("--severity", type=LEVELS, help="Report what is at least as grave; by default hint, which is all."),
    click.option(
        "--fail-on", type=LEVELS, help="Exit with status 1 only for what is at least as grave; by default information."
    ),
    click.option("--extend-ignore", multiple=True, metavar="CODES", help="Nor these rules."),
    click.option(
        "--per-file-ignores",
        multiple=True,
        metavar="PATTERN:CODE",
        help="List of mappings from file pattern to code to exclude.",
    ),
    click.option(
        "--extend-per-file-ignores",
        multiple=True,
        metavar="PATTERN:CODE",
        help="Like --per-file-ignores, but adds additional ignores on top of those already specified.",
    ),
    click.option("--fixable", multiple=True, metavar="CODES", help="Rules that --fix may fix; by default all."),
    click.option("--unfixable", multiple=True, metavar="CODES", help="Rules that it may not fix."),
    click.option(
        "--extend-fixable",
        multiple=True,
        metavar="CODES",
        help="Like --fixable, but adds additional rule codes on top of those already specified.",
    ),
    click.option("--show-fixes/--no-show-fixes", default=None, help="Show an enumeration of all fixed findings."),
    click.option("--ignore-noqa", is_flag=True, help="Ignore any comments that silence findings."),
    click.option("-w", "--watch", is_flag=True, help="Run in watch mode by re-running whenever files change."),
    click.option("--baseline", metavar="FILE", help="Do not report the findings that this file lists."),
    click.option(
        "--write-baseline", is_flag=True, help="List all findings in the file of --baseline instead of reporting them."
    ),
    click.option("--statistics", is_flag=True, help="Show counts for every rule with at least one violation."),
    click.option(
        "-o",
        "--output-file",
        envvar="TAPELINT_OUTPUT_FILE",
        show_envvar=True,
        metavar="OUTPUT_FILE",
        help="Specify file to write the linter output to (default: stdout).",
    ),
    click.option(
        "--fix-only/--no-fix-only",
        default=None,
        help="Apply fixes, and do not report what is left. Implies --fix.",
    ),
    click.option("-v", "--verbose", is_flag=True, help="Enable verbose logging: --log-level debug."),
    click.option("-q", "--quiet", is_flag=True, help="Print diagnostics, but nothing else."),
    click.option("-s", "--silent", is_flag=True, help="Print nothing; the exit status tells what was found."),
    click.option("-e", "--exit-zero", is_flag=True, help="Exit with status 0 even if something was found."),
    click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        metavar="WHEN",
        help="Control when colored output is used: auto, always or never.",
    ),
    click.option("--exit-non-zero-on-fix", is_flag=True, help="Exit with status 1 if a file was fixed, too."),
)


def reporting_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command these options: those of a run as a Manner, those of the configuration by their names."""

    @functools.wraps(command)
    def taking(*arguments: Any, **options: Any) -> Any:
        manner = Manner(**{field.name: options.pop(field.name) for field in fields(Manner)})
        _speak(manner)
        return command(*arguments, manner=manner, **options)

    for option in reversed(_OPTIONS):
        taking = option(taking)
    return taking


def _speak(manner: Manner) -> None:
    """Refuse options that contradict each other, by UsageError, and see to colours and the log of all processes."""
    chosen = [f"--{name}" for name in ("verbose", "quiet", "silent") if getattr(manner, name)]
    if len(chosen) > 1:
        raise click.UsageError(f"{chosen[0]} cannot be used with {chosen[1]}.")
    if manner.color != "auto":
        os.environ["NO_COLOR"] = "" if manner.color == "always" else "1"
        os.environ["FORCE_COLOR"] = "1" if manner.color == "always" else ""


def by_pattern(mappings: Any) -> dict[str, list[str]]:
    """``tests/*:TL4`` as the configuration has it; raises UsageError."""
    found: dict[str, list[str]] = {}
    for mapping in mappings:
        pattern, colon, code = mapping.rpartition(":")
        if not (pattern and colon and code):
            raise click.UsageError(f"{mapping!r} is not of the form PATTERN:CODE, as tests/*:TL4 is.")
        found.setdefault(pattern, []).append(code)
    return found


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
