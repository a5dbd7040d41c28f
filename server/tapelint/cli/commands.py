"""The commands and their options. What takes time to import is imported by the command that needs it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import click

from .. import __version__
from ..compiled import engine
from ..output_formats import COUNTED, FORMATS
from . import completing
from .grouped_help import Commands, Grouped
from .run_options import Manner, by_pattern, cache_options, reporting_options
from .streams import LEVELS, LOG, log, writing

_FORMATS = click.Choice(FORMATS)

_LEVELS = click.Choice([level.lower() for level in LEVELS])
_CODES: dict[str, Any] = {"multiple": True, "metavar": "CODES", "shell_complete": completing.codes}
_FILE = click.Path(readable=False)
"""What shells complete with the names of files; nothing is checked of it."""
_PICTURES = click.Choice(["text", "mermaid", "dot", "svg", "json"])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
@click.version_option(__version__, "-V", "--version", message="tapelint %(version)s")
def tapelint() -> None:
    """Find PyTorch autograd bugs without running the code."""


@tapelint.command(cls=Grouped)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(readable=False, path_type=str))
@click.option(
    "--output-format",
    type=_FORMATS,
    envvar="TAPELINT_OUTPUT_FORMAT",
    show_envvar=True,
    help="How findings are printed; by default full.",
)
@click.option(
    "--select",
    multiple=True,
    metavar="CODES",
    shell_complete=completing.codes,
    help="Only these rules: codes or beginnings of codes.",
)
@click.option("--extend-select", **_CODES, help="These rules as well.")
@click.option("--ignore", **_CODES, help="Not these rules.")
@click.option("--exclude", multiple=True, metavar="PATTERNS", help="Not these files and folders, instead of the usual.")
@click.option("--extend-exclude", multiple=True, metavar="PATTERNS", help="Not these files and folders either.")
@click.option(
    "--force-exclude/--no-force-exclude", default=None, help="Leave out what is excluded even if it is named."
)
@click.option(
    "--respect-gitignore/--no-respect-gitignore", default=None, help="Leave out what git ignores; on by default."
)
@click.option("--config", multiple=True, metavar="FILE", help='A configuration file, or a setting: "callers = false".')
@click.option("--isolated", is_flag=True, help="Read no configuration file.")
@click.option("--show-files", is_flag=True, help="Print which files would be checked.")
@click.option("--show-settings", is_flag=True, help="Print under which settings the first of them would be checked.")
@click.option(
    "--fix/--no-fix", default=None, help="Apply the safe fixes; - goes to standard output, its findings to stderr."
)
@click.option(
    "--unsafe-fixes/--no-unsafe-fixes",
    default=None,
    help="With --fix or --diff: also those that may change what is computed.",
)
@click.option("--diff", is_flag=True, help="Print what --fix would change, and change nothing.")
@click.option(
    "--add-ignore",
    metavar="[=REASON]",
    shell_complete=completing.files,
    help="Write an ignore comment for each finding into its file, with a reason after the codes.",
)
@click.option("--stdin-filename", metavar="PATH", help="The name of the file that - reads from standard input.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="How many processes analyse many files.")
@click.option("--stats", is_flag=True, help="Say on stderr how much was executed and what remained unknown.")
@click.option("--story", is_flag=True, help="In full output: each step that leads to a finding, with its code.")
@click.option("--log-level", type=_LEVELS, help="Log to stderr: times, skipped files, where paths ended.")
@cache_options
@reporting_options
def check(
    paths: tuple[str, ...],
    config: tuple[str, ...],
    isolated: bool,
    show_files: bool,
    show_settings: bool,
    diff: bool,
    add_ignore: str | None,
    stdin_filename: str | None,
    jobs: int | None,
    stats: bool,
    story: bool,
    log_level: str | None,
    no_cache: bool,
    cache_dir: str,
    manner: Manner,
    **keys: tuple[str, ...] | bool | str | None,
) -> int:
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
    from .request import Request

    _log_at(log_level or manner.log_level)
    options = dict(_given(keys))
    adds = add_ignore is not None
    _refuse_together(adds, diff, "-" in paths, manner.statistics, options)
    _refuse_more(manner, adds, "-" in paths)
    if add_ignore and not add_ignore.isprintable():
        raise click.UsageError("--add-ignore: a reason has one line.")
    request = Request(
        paths=paths or (os.curdir,),
        configs=config,
        is_isolated=isolated,
        options=tuple(options.items()),
        show="files" if show_files else "settings" if show_settings else "findings",
        stdin_filename=stdin_filename,
        jobs=jobs,
        stats=stats and not manner.is_terse,
        manner=manner,
        diff=diff,
        add_ignore=adds,
        reason=(add_ignore or "").strip(),
        no_cache=no_cache,
        cache_dir=cache_dir,
        story=story,
    )
    return _program("rerunning" if manner.watch else "check")(request)


def _log_at(level: str) -> None:
    """Begin the log, also that of the processes that are started; without a level there is none but the user's."""
    if level:
        os.environ[LOG] = level
        log()


def _refuse_together(
    add_ignore: bool, diff: bool, reads_input: bool, statistics: bool, options: Mapping[str, object]
) -> None:
    """Raise UsageError for options of ``check`` that make no sense together."""
    form = options.get("output-format")
    if statistics and form and form not in COUNTED:
        raise click.UsageError(f"--statistics goes with the formats full and json, not with {form}.")
    if diff and options.get("show-fixes"):
        raise click.UsageError("--diff cannot be used with --show-fixes.")
    if add_ignore and (diff or reads_input or options.get("fix") or options.get("fix-only")):
        raise click.UsageError(
            "--add-ignore writes comments into files: it goes neither with --fix or --diff nor with -."
        )


def _refuse_more(manner: Manner, add_ignore: bool, reads_input: bool) -> None:
    """Raise UsageError for options that say how a run goes on, and make no sense together."""
    if manner.watch and (add_ignore or manner.write_baseline or reads_input):
        raise click.UsageError("--watch goes neither with --add-ignore or --write-baseline nor with -.")


def _given(keys: Mapping[str, tuple[str, ...] | bool | str | None]) -> Iterator[tuple[str, object]]:
    """The keys of a configuration that options have given a value."""
    for name, value in keys.items():
        if value is not None and value != ():
            listed = _split(value) if isinstance(value, tuple) else value
            yield name.replace("_", "-"), by_pattern(listed) if name.endswith("per_file_ignores") else listed


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
    return _program("explain")(code, is_all, output_format)


@tapelint.command()
@click.argument("key", metavar="[SETTING]", required=False, shell_complete=completing.settings)
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
def config(key: str | None, output_format: str) -> int:
    """List the settings of a configuration, or say what one of them is for."""
    return _program("configuring")(key, output_format)


@tapelint.command()
@click.argument("listed", metavar="LIST", type=click.Path(allow_dash=True))
@click.option("--output-file", "-o", required=True, metavar="FILE", help="Where a line of JSON for each is added.")
@click.option("--engine", type=click.Choice(["local", "dask", "ray"]), default="local", show_default=True)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="How many repositories at once.")
@click.option(
    "--address", metavar="ADDRESS", help="Of a scheduler of Dask or a Ray cluster; without it one is started."
)
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


def _split(values: tuple[str, ...]) -> tuple[str, ...]:
    """``--select TL101,TL2 --select TL3`` as one tuple."""
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())
