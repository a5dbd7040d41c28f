"""Completion in shells: the scripts, and what stands for the arguments that are neither files nor choices."""

from __future__ import annotations

from importlib import import_module

import click
from click.shell_completion import CompletionItem, get_completion_class

from .streams import writing

SHELLS = ("bash", "fish", "zsh")
_VARIABLE = "_TAPELINT_COMPLETE"
"""Where the scripts say that they ask for a completion, and of which shell; click derives it from the name."""


def run(shell: str) -> int:
    """Print the script that a shell reads; the exit status."""
    context = click.get_current_context().find_root()
    kind = get_completion_class(shell)
    assert kind is not None, shell
    with writing():
        print(kind(context.command, {}, "tapelint", _VARIABLE).source())
    return 0


def codes(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """The codes of rules that what is typed begins; of a list, that what stands after the last comma begins."""
    rules: dict[str, str] = import_module("tapelint.report.topics").names_by_code()
    before, comma, last = typed.rpartition(",")
    return [before + comma + code for code in rules if code.startswith(last.upper())]


def files(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """The names of files, after an option whose value may be left out."""
    return [CompletionItem(typed, type="file")]


def settings(context: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
    """The settings that what is typed begins."""
    known: dict[str, object] = import_module("tapelint.workspace.all_settings").SETTINGS
    return [key for key in known if key.startswith(typed)]
