"""What the command line asks of ``tapelint check``, and what the configuration settles of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from ..frozen import frozen
from ..output_formats import COUNTED
from ..workspace import Config, Given, given_by
from .run_options import Manner
from .task import Fixing

STDIN = "-"
BRIEF = "brief"
"""The format of a run that prints no findings: they have no fixes."""


@frozen
class Request:
    """The command line's wishes."""

    paths: tuple[str, ...]
    # where neither an option nor the configuration says another
    output_format: str = "full"
    # what the command line says of the configuration: files and settings, no files of the project, keys with a value
    configs: tuple[str, ...] = ()
    is_isolated: bool = False
    options: tuple[tuple[str, object], ...] = ()
    show: Literal["findings", "files", "settings"] = "findings"
    stdin_filename: str | None = None
    jobs: int | None = None
    stats: bool = False
    manner: Manner = Manner()
    diff: bool = False
    add_ignore: bool = False
    # what the comments that are added say after their codes
    reason: str = ""
    no_cache: bool = False
    cache_dir: str = ""
    story: bool = False
    # these the configuration settles
    fix: Fixing = "no"
    fix_only: bool = False
    unsafe_fixes: bool | None = None
    show_fixes: bool = False

    @property
    def given(self) -> Given:
        """What the command line says of the configuration; raises ConfigError."""
        given = given_by(self.configs, self.is_isolated, self.options)
        if self.manner.ignore_noqa:
            given = replace(given, fields=(*given.fields, ("ignore_noqa", True)))
        return given

    @property
    def is_filter(self) -> bool:
        """Whether the fixed text goes to standard output: where it came from standard input."""
        return self.fix != "no" and not self.diff and STDIN in self.paths

    @property
    def asked_format(self) -> str:
        """The format in which findings are made: that for programs to count them, one without fixes to print none."""
        if self.add_ignore or self.manner.write_baseline:
            return BRIEF
        return "json" if self.manner.statistics else self.output_format


def with_settings(request: Request, config: Config) -> Request:
    """The request with what the configuration of the current folder, and the options over it, say of a run."""
    manner = request.manner
    only_looks = request.add_ignore or manner.write_baseline or STDIN in request.paths
    chosen = _fixing(config, dict(request.options), is_asked=request.diff, is_refused=only_looks)
    form = config.output_format or request.output_format
    is_uncounted = manner.statistics and form not in COUNTED
    return replace(
        request,
        output_format="full" if is_uncounted else form,
        fix=chosen,
        fix_only=config.fix_only and chosen != "no" and not request.diff,
        unsafe_fixes=config.unsafe_fixes,
        show_fixes=config.show_fixes,
    )


def _fixing(config: Config, options: Mapping[str, object], is_asked: bool, is_refused: bool) -> Fixing:
    """Which fixes a run makes. ``options`` are the keys that the command line gives a value, ``is_asked``: it wants to
    see them all the same. A run that reads standard input, or writes comments or a baseline, ``is_refused`` what only a
    file says: it was not started to fix.
    """
    by_option = options.get("fix") or options.get("fix-only")
    is_wanted = config.fix or (config.fix_only and options.get("fix") is not False)
    if is_asked or by_option or (is_wanted and not is_refused):
        return "unsafe" if config.unsafe_fixes else "safe"
    return "no"
