"""What the command line asks of ``tapelint check``, and what the configuration settles of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

import click

from ..frozen import frozen
from ..output_formats import COUNTED
from ..workspace import Config, Given, given_by
from .task import Fixing

STDIN = "-"
BRIEF = "brief"
"""The format of a run that prints no findings: they have no fixes."""


@frozen
class Request:
    """The command line's wishes, by the names of its options. ``quiet``: what was found and what could not be done,
    nothing else; ``silent``: nothing.
    """

    paths: tuple[str, ...]
    config: tuple[str, ...] = ()
    isolated: bool = False
    show_files: bool = False
    show_settings: bool = False
    stdin_filename: str | None = None
    jobs: int | None = None
    stats: bool = False
    diff: bool = False
    # the reason that the comments have; None: none are added
    add_ignore: str | None = None
    no_cache: bool = False
    cache_dir: str = ""
    story: bool = False
    verbose: bool = False
    quiet: bool = False
    silent: bool = False
    log_level: str | None = None
    color: str = "auto"
    watch: bool = False
    ignore_noqa: bool = False
    statistics: bool = False
    output_file: str | None = None
    exit_zero: bool = False
    exit_non_zero_on_fix: bool = False
    write_baseline: bool = False
    # the keys of a configuration that options give a value, and what of a run the configuration settles
    keys: tuple[tuple[str, object], ...] = ()
    output_format: str = "full"
    fix: Fixing = "no"
    fix_only: bool = False
    unsafe_fixes: bool | None = None
    show_fixes: bool = False

    @property
    def given(self) -> Given:
        """What the command line says of the configuration; raises ConfigError."""
        given = given_by(self.config, self.isolated, self.keys)
        return replace(given, fields=(*given.fields, ("ignore_noqa", True))) if self.ignore_noqa else given

    @property
    def is_terse(self) -> bool:
        """Whether only what was found is printed, if anything."""
        return self.quiet or self.silent

    @property
    def is_filter(self) -> bool:
        """Whether the fixed text goes to standard output: where it came from standard input."""
        return self.fix != "no" and not self.diff and STDIN in self.paths

    @property
    def only_looks(self) -> bool:
        """Whether the run is about findings that stay: they are silenced or listed."""
        return self.add_ignore is not None or self.write_baseline

    @property
    def asked_format(self) -> str:
        """The format in which findings are made: that for programs to count them, one without fixes to print none."""
        if self.only_looks:
            return BRIEF
        return "json" if self.statistics else self.output_format


_SETTLED = ("keys", "output_format", "fix", "fix_only", "unsafe_fixes", "show_fixes")
_OWN = [field.name for field in fields(Request) if field.name not in _SETTLED]


def request_of(options: Mapping[str, Any]) -> Request:
    """The request of a command line with these options; raises UsageError for what makes no sense together."""
    keys = {name.replace("_", "-"): value for name, value in options.items() if name not in _OWN}
    request = Request(**{name: options[name] for name in _OWN}, keys=tuple(_given(keys)))
    _refuse_contradictions(request)
    reason = request.add_ignore and request.add_ignore.strip()
    return replace(request, add_ignore=reason, stats=request.stats and not request.is_terse)


def _given(keys: Mapping[str, tuple[str, ...] | bool | str | None]) -> Iterator[tuple[str, object]]:
    """The keys of a configuration that options have given a value."""
    for name, value in keys.items():
        if isinstance(value, tuple):
            # ``--select TL101,TL2 --select TL3`` is one list
            words = tuple(word.strip() for part in value for word in part.split(",") if word.strip())
            if value:
                yield name, _by_pattern(words) if name.endswith("per-file-ignores") else words
        elif value is not None:
            yield name, value


def _by_pattern(mappings: tuple[str, ...]) -> dict[str, list[str]]:
    """``tests/*:TL4`` as the configuration has it; raises UsageError."""
    found: dict[str, list[str]] = {}
    for mapping in mappings:
        pattern, colon, code = mapping.rpartition(":")
        if not (pattern and colon and code):
            raise click.UsageError(f"{mapping!r} is not of the form PATTERN:CODE, as tests/*:TL4 is.")
        found.setdefault(pattern, []).append(code)
    return found


def _refuse_contradictions(request: Request) -> None:
    keys, adds, reads_input = dict(request.keys), request.add_ignore is not None, STDIN in request.paths
    form = keys.get("output-format")
    speaking = [f"--{name}" for name in ("verbose", "quiet", "silent") if getattr(request, name)]
    refused = {
        f"{' cannot be used with '.join(speaking[:2])}.": len(speaking) > 1,
        f"--statistics goes with the formats full and json, not with {form}.": (
            request.statistics and form and form not in COUNTED
        ),
        "--diff cannot be used with --show-fixes.": request.diff and keys.get("show-fixes"),
        "--add-ignore writes comments into files: it goes neither with --fix or --diff nor with -.": (
            adds and (request.diff or reads_input or keys.get("fix") or keys.get("fix-only"))
        ),
        "--add-ignore: a reason has one line.": request.add_ignore and not request.add_ignore.isprintable(),
        "--watch goes neither with --add-ignore or --write-baseline nor with -.": (
            request.watch and (request.only_looks or reads_input)
        ),
    }
    for message, is_so in refused.items():
        if is_so:
            raise click.UsageError(message)


def with_settings(request: Request, config: Config) -> Request:
    """The request with what the configuration of the current folder, and the options over it, say of a run."""
    chosen = _fixing(request, config)
    form = config.output_format or request.output_format
    is_uncounted = request.statistics and form not in COUNTED
    return replace(
        request,
        output_format="full" if is_uncounted else form,
        fix=chosen,
        fix_only=config.fix_only and chosen != "no" and not request.diff,
        unsafe_fixes=config.unsafe_fixes,
        show_fixes=config.show_fixes,
    )


def _fixing(request: Request, config: Config) -> Fixing:
    """Which fixes a run makes. One that reads standard input, or writes comments or a baseline, makes none that only a
    file asks for: it was not started to fix.
    """
    options = dict(request.keys)
    by_option = options.get("fix") or options.get("fix-only")
    by_file = config.fix or (config.fix_only and options.get("fix") is not False)
    if request.diff or by_option or (by_file and not request.only_looks and STDIN not in request.paths):
        return "unsafe" if config.unsafe_fixes else "safe"
    return "no"
