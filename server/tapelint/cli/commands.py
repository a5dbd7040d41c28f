"""The commands and their options. What takes time to import is imported by the command that needs it.

The command without a command: whole summaries of its commands, and arguments in files.

``tapelint check @changed.txt`` has one argument on each line of changed.txt, as ruff has it: the command lines of
systems are limited, and build tools name thousands of files.

The options of ``tapelint check`` by heading, in the order of ``--help``; the names, words and headings are those of
ruff.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import click

from .. import __version__
from ..compiled import engine
from ..output_formats import FORMATS
from . import completing
from .streams import LEVELS, LOG, log, writing

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
