"""The commands and their options. What takes time to import is imported by the command that needs it."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

import click

from .. import __version__
from ..compiled import engine
from . import completing
from .check_options import Check, check_options
from .command_group import Commands
from .streams import LOG, log, writing

_FILE = click.Path(readable=False)
"""What shells complete with the names of files; nothing is checked of it."""
_PICTURES = click.Choice(["text", "mermaid", "dot", "svg", "json"])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
@click.version_option(__version__, "-V", "--version", message="tapelint %(version)s")
def tapelint() -> None:
    """Find PyTorch autograd bugs without running the code."""


@tapelint.command(cls=Check)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(readable=False, path_type=str))
@check_options
def check(paths: tuple[str, ...], **options: Any) -> int:
    """Check Python files, or all of them below folders; - is standard input, nothing the current folder.

    \b
    Exit status:
      0  nothing was found, or nothing is left after --fix (or hints only)
      1  something was found, or is left, or a file with PyTorch has syntax errors;
         with --diff: something would be changed
      2  something could not be checked; stderr says what, everything else was
    What was followed only in part is said, and does not count.
    \b
    Ended by Ctrl-C (130) or a signal, it prints what was found so far.
    """
    request = import_module(".request", __package__).request_of({"paths": paths or (os.curdir,), **options})
    level = request.log_level or ("debug" if request.verbose else "")
    if level:  # of the processes that are started, too, as are the colours
        os.environ[LOG] = level
        log()
    if request.color != "auto":
        os.environ["NO_COLOR"] = "" if request.color == "always" else "1"
        os.environ["FORCE_COLOR"] = "1" if request.color == "always" else ""
    return _program("rerunning" if request.watch else "check")(request)


def _program(module: str, name: str = "run") -> Callable[..., int]:
    """What a command runs: a function of a module beside or below this one, which answers the exit status."""
    run: Callable[..., int] = getattr(import_module(f".{module}", __package__), name)
    return run


@tapelint.command()
@click.argument("code", required=False, shell_complete=completing.codes)
@click.option("--all", "is_all", is_flag=True, help="Explain all rules.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def rule(code: str | None, is_all: bool, output_format: str) -> int:
    """Explain a rule, given its code or name; without one, list all rules."""
    return _program("reference", "rules")(code, is_all, output_format)


@tapelint.command()
@click.argument("key", metavar="[SETTING]", required=False, shell_complete=completing.settings)
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def config(key: str | None, output_format: str) -> int:
    """List the settings of a configuration, or say what one of them is for."""
    return _program("reference", "settings")(key, output_format)


@tapelint.command()
@click.argument("listed", metavar="LIST", type=click.Path(allow_dash=True))
@click.option("--output-file", "-o", required=True, metavar="FILE", help="Where a line of JSON for each is added.")
@click.option("--engine", type=click.Choice(["local", "dask"]), default="local", show_default=True)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="How many repositories at once.")
@click.option("--address", metavar="ADDRESS", help="Of a scheduler of Dask; without it one is started.")
@click.option("--time-limit", type=float, default=60.0, show_default=True, metavar="SECONDS", help="For one file.")
@click.option("--memory-limit", type=int, default=0, metavar="MB", help="For the process that checks a file; 0: any.")
def fleet(
    listed: str,
    output_file: str,
    engine: str,
    jobs: int | None,
    address: str | None,
    time_limit: float,
    memory_limit: int,
) -> int:
    """Check many repositories: folders, tar or zip archives, one in each line of LIST (- is standard input).

    \b
    A repository that has a line in FILE already is left out, so that a run that was interrupted goes on where it
    stopped. A file that takes too long or too much memory, or ends its process, is recorded as such.
    \b
    Exit status: 0 nothing was found, 1 something was, 2 a repository could not be read.
    """
    return _program("fleet.running")(listed, output_file, engine, jobs, address, time_limit, memory_limit)


@tapelint.command()
@click.argument("target", metavar="[FILE[:LINE]]", required=False, type=_FILE)
def explain(target: str | None) -> int:
    """Explain an error of PyTorch: paste a traceback into standard input, or name a line.

    \b
      python train.py 2>&1 | tapelint explain
      tapelint explain train.py:31
      tapelint explain study.ipynb < traceback.txt

    \b
    Prints the finding that predicts the error, with its story and its cure. Where there is none: what the
    error means, and what was seen of the line. Without FILE the files of the traceback are looked for in
    the current folder, lines by their text: the program may have run on another machine.
    Nothing is executed. Exit status: 0, or 2 where there is nothing to explain.
    """
    return _program("explaining")(target)


@tapelint.command()
@click.argument("target", metavar="FILE[:LINE]", type=_FILE)
def trace(target: str) -> int:
    """Print how a file was executed, statement by statement, or what was executed of one line of it.

    \b
    For each statement: what it built, wrote, freed and bound, what is unknown and why;
    where the engine forked, joined or dropped paths, skipped iterations, gave up.
    The file itself is never run. The lines of a notebook are counted through its code cells.
    Exit status: 0, or 2 where it cannot be traced.
    """
    return _program("tracing")(target)


@tapelint.command()
@click.argument("target", metavar="FILE:LINE", type=_FILE)
@click.option(
    "--format", "output_format", type=_PICTURES, default="text", show_default=True, help="How the picture is printed."
)
def graph(target: str, output_format: str) -> int:
    """Draw the autograd graph of the finding at a line, else of the first tensor there.

    \b
      tapelint graph train.py:31
      tapelint graph train.py:31 --format mermaid    for a bug report on GitHub
      tapelint graph train.py:31 --format svg > graph.svg

    \b
    One column an iteration: leaves, operations and what they saved, in-place writes, backward passes, optimizer
    steps; what belongs to the hazard is marked. The file itself is never run.
    Exit status: 0, or 2 where there is nothing to draw.
    """
    return _program("picturing")(target, output_format)


@tapelint.command("debug-bundle")
@click.argument("file", metavar="[FILE]", required=False, type=_FILE)
@click.option("--output", default="tapelint-debug-bundle.zip", show_default=True, metavar="PATH", help="The archive.")
@click.option("--include-source", is_flag=True, help="Put the text of FILE into it.")
def debug_bundle(file: str | None, output: str, include_source: bool) -> int:
    """Write an archive to attach to a report of a bug: versions, settings, counters, the log.

    \b
    With FILE also how its check went, but no line of it unless --include-source is given.
    Says what is in the archive. Exit status: 0, or 2 where FILE cannot be read or nothing be written.
    """
    return _program("debug_bundle")(file, output, include_source)


@tapelint.command("generate-shell-completion")
@click.argument("shell", type=click.Choice(completing.SHELLS))
def generate_shell_completion(shell: str) -> int:
    """Print what makes a shell complete tapelint's commands, options and arguments.

    \b
      bash   tapelint generate-shell-completion bash > ~/.local/share/bash-completion/completions/tapelint
      zsh    tapelint generate-shell-completion zsh > ~/.zfunc/_tapelint    (a folder in fpath, before compinit)
      fish   tapelint generate-shell-completion fish > ~/.config/fish/completions/tapelint.fish
    """
    return completing.run(shell)


@tapelint.command()
@click.option("--stdio", is_flag=True, hidden=True, help="Accepted because editors pass it; there is no other way.")
@click.pass_obj
def server(serve: Callable[[], None], stdio: bool) -> int:
    """Start the language server on standard input and output (for editors)."""
    try:
        serve()
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 0
    return 0


@tapelint.command()
def clean() -> int:
    """Clear any caches in the current directory and any subdirectories."""
    return _program("result_cache", "remove_caches")()


@tapelint.command()
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def version(output_format: str) -> None:
    """Print the version."""
    with writing():
        about = f'{{"version": "{__version__}", "engine": "{engine()}"}}'
        print(f"tapelint {__version__}" if output_format == "text" else about)
