"""The options of ``tapelint check`` by heading, in the order of ``--help``; the names, words and headings are those of
ruff.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from ..output_formats import FORMATS
from . import completing
from .streams import LEVELS

Option = tuple[tuple[str, ...], dict[str, Any]]


def _option(*names: str, **how: Any) -> Option:
    return names, how


def _switch(name: str, help: str) -> Option:
    """What a configuration may say as well: neither yes nor no where the command line does not."""
    return _option(f"--{name}/--no-{name}", default=None, help=help)


def _listed(name: str, metavar: str, help: str) -> Option:
    completed = completing.codes if metavar == "CODES" else None
    return _option(f"--{name}", multiple=True, metavar=metavar, help=help, shell_complete=completed)


_GRAVITY = click.Choice(["error", "warning", "information", "hint"])
_LOG_LEVEL = click.Choice([level.lower() for level in LEVELS])

OPTIONS: dict[str, tuple[Option, ...]] = {
    "Options": (
        _switch("fix", "Apply the safe fixes; - goes to standard output, its findings to stderr."),
        _switch("unsafe-fixes", "With --fix or --diff: also those that may change what is computed."),
        _switch("show-fixes", "Show an enumeration of all fixed findings."),
        _option("--diff", is_flag=True, help="Print what --fix would change, and change nothing."),
        _option("-w", "--watch", is_flag=True, help="Run in watch mode by re-running whenever files change."),
        _switch("fix-only", "Apply fixes, and do not report what is left. Implies --fix."),
        _option("--ignore-noqa", is_flag=True, help="Ignore any comments that silence findings."),
        _option(
            "--output-format",
            type=click.Choice(FORMATS),
            envvar="TAPELINT_OUTPUT_FORMAT",
            show_envvar=True,
            help="How findings are printed; by default full.",
        ),
        _option("--story", is_flag=True, help="In full output: each step that leads to a finding, with its code."),
        _option(
            "-o",
            "--output-file",
            envvar="TAPELINT_OUTPUT_FILE",
            show_envvar=True,
            metavar="OUTPUT_FILE",
            help="Specify file to write the linter output to (default: stdout).",
        ),
        _option("--statistics", is_flag=True, help="Show counts for every rule with at least one violation."),
        _option("--stats", is_flag=True, help="Say on stderr how much was executed and what remained unknown."),
        _option(
            "--add-ignore",
            metavar="[=REASON]",
            shell_complete=completing.files,
            help="Write an ignore comment for each finding into its file, with a reason after the codes.",
        ),
        _option("--show-files", is_flag=True, help="Print which files would be checked."),
        _option("--show-settings", is_flag=True, help="Print under which settings the first of them would be checked."),
    ),
    "Rule selection": (
        _listed("select", "CODES", "Only these rules: codes or beginnings of codes."),
        _listed("ignore", "CODES", "Not these rules."),
        _listed("extend-select", "CODES", "These rules as well."),
        _listed("extend-ignore", "CODES", "Nor these rules."),
        _listed("per-file-ignores", "PATTERN:CODE", "List of mappings from file pattern to code to exclude."),
        _listed(
            "extend-per-file-ignores",
            "PATTERN:CODE",
            "Like --per-file-ignores, but adds additional ignores on top of those already specified.",
        ),
        _listed("fixable", "CODES", "Rules that --fix may fix; by default all."),
        _listed("unfixable", "CODES", "Rules that it may not fix."),
        _listed(
            "extend-fixable",
            "CODES",
            "Like --fixable, but adds additional rule codes on top of those already specified.",
        ),
        _option("--severity", type=_GRAVITY, help="Report what is at least as grave; by default hint, which is all."),
    ),
    "File selection": (
        _listed("exclude", "PATTERNS", "Not these files and folders, instead of the usual."),
        _listed("extend-exclude", "PATTERNS", "Not these files and folders either."),
        _switch("respect-gitignore", "Leave out what git ignores; on by default."),
        _switch("force-exclude", "Leave out what is excluded even if it is named."),
    ),
    "Known findings": (
        _option("--baseline", metavar="FILE", help="Do not report the findings that this file lists."),
        _option(
            "--write-baseline",
            is_flag=True,
            help="List all findings in the file of --baseline instead of reporting them.",
        ),
    ),
    "Miscellaneous": (
        _option(
            "-n", "--no-cache", is_flag=True, envvar="TAPELINT_NO_CACHE", show_envvar=True, help="Disable cache reads."
        ),
        _option(
            "--cache-dir",
            envvar="TAPELINT_CACHE_DIR",
            show_envvar=True,
            default="",
            metavar="CACHE_DIR",
            help="Path to the cache directory.",
        ),
        _option("--stdin-filename", metavar="PATH", help="The name of the file that - reads from standard input."),
        _option("-e", "--exit-zero", is_flag=True, help="Exit with status 0 even if something was found."),
        _option("--exit-non-zero-on-fix", is_flag=True, help="Exit with status 1 if a file was fixed, too."),
        _option(
            "--fail-on",
            type=_GRAVITY,
            help="Exit with status 1 only for what is at least as grave; by default information.",
        ),
        _option("--jobs", type=click.IntRange(min=1), metavar="N", help="How many processes analyse many files."),
    ),
    "Log levels": (
        _option("-v", "--verbose", is_flag=True, help="Enable verbose logging: --log-level debug."),
        _option("-q", "--quiet", is_flag=True, help="Print diagnostics, but nothing else."),
        _option("-s", "--silent", is_flag=True, help="Print nothing; the exit status tells what was found."),
        _option("--log-level", type=_LOG_LEVEL, help="Log to stderr: times, skipped files, where paths ended."),
    ),
    "Global options": (
        _option(
            "--config",
            multiple=True,
            metavar="FILE",
            help='A configuration file, or a setting: "callers = false".',
        ),
        _option("--isolated", is_flag=True, help="Read no configuration file."),
        _option(
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            metavar="WHEN",
            help="Control when colored output is used: auto, always or never.",
        ),
    ),
}
_OPTIONAL = ("--add-ignore",)
"""Options whose value may be left out: as in ruff it is what follows ``=``, never the next argument."""


class _Headed(click.Option):
    """An option that ``--help`` has below a heading."""

    def __init__(self, names: tuple[str, ...], heading: str, **how: Any) -> None:
        super().__init__(names, **how)
        self.heading = heading


def check_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command all of them."""
    for heading, options in reversed(OPTIONS.items()):
        for names, how in reversed(options):
            command = click.option(*names, cls=_Headed, heading=heading, **how)(command)
    return command


class Check(click.Command):
    """A command with these options: its help has them below their headings."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [f"{each}=" if each in _OPTIONAL else each for each in args])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows: dict[str, list[tuple[str, str]]] = {heading: [] for heading in OPTIONS}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                rows[getattr(param, "heading", "Options")].append(record)
        for heading, records in rows.items():
            with formatter.section(heading):
                formatter.write_dl(records)
