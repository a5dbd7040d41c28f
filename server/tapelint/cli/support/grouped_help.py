"""``--help`` with the options in groups, those of ruff, and with whole summaries of commands."""

from __future__ import annotations

import click

_GROUPS = {
    "Rule selection": ("select", "ignore", "extend_select", "per_file_ignores", "extend_per_file_ignores"),
    "File selection": ("exclude", "extend_exclude", "respect_gitignore", "force_exclude"),
    "Miscellaneous": (
        "no_cache",
        "cache_dir",
        "stdin_filename",
        "exit_zero",
        "exit_non_zero_on_fix",
        "fail_on",
        "jobs",
    ),
    "Log levels": ("verbose", "quiet", "silent", "log_level"),
    "Global options": ("config", "isolated", "color"),
}
"""The names of options by heading. What is named nowhere stands under ``Options``, before them."""
_HEADINGS = {name: heading for heading, names in _GROUPS.items() for name in names}
_REST = "Options"


class Grouped(click.Command):
    """A command with many options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        records: dict[str, list[tuple[str, str]]] = {heading: [] for heading in (_REST, *_GROUPS)}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                records[_HEADINGS.get(param.name or "", _REST)].append(record)
        for heading, rows in records.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


class Commands(click.Group):
    """Commands with their summaries in full: the terminal wraps them."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        shown = [(name, command) for name, command in commands if command and not command.hidden]
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(limit=200)) for name, command in shown])
