"""Which other files are checked as well, and what of the findings in them is wanted."""

from __future__ import annotations

from collections.abc import Callable

from ..report import Diagnostic
from ..severity import Severity
from ..stubs import stub_module_name
from ..workspace.config import Config

ConfigOf = Callable[[str], Config | None]
"""The configuration of another file of the project, by path; None where that is not checked."""


class Configs:
    """The configurations of the other files of one analysis, each asked for once."""

    def __init__(self, config_of: ConfigOf | None) -> None:
        self._config_of = config_of
        self._known: dict[str, Config | None] = {}

    def config(self, path: str) -> Config | None:
        """The configuration of a file that is checked."""
        if self._config_of is None or stub_module_name(path) is not None:
            return None
        if path not in self._known:
            self._known[path] = self._config_of(path)
        return self._known[path]

    def holds(self, path: str) -> bool:
        """Whether findings are reported of a file, and not only at the calls that lead to them."""
        return self.config(path) is not None

    def grade(self, diagnostic: Diagnostic) -> Severity | None:
        """How grave a finding in another file is to the user; None where it is not wanted."""
        config = self.config(diagnostic.filename)
        if config is None:
            return None
        return config.grade(diagnostic.code, diagnostic.severity, diagnostic.filename)
