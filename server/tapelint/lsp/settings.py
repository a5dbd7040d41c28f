"""What the user set in the editor, per folder, over what the project's files say.

The editor's settings are few on purpose: the project's configuration decides, so that editor and command line agree.

    tapelint.enable         bool   false: say nothing
    tapelint.run            word   onSave: check when a file is opened or saved, not while it is edited; onType
    tapelint.diagnosticMode word   workspace: check files that train while they are closed as well; openFilesOnly
    tapelint.configuration  path   a configuration file that counts instead of those of the project
    tapelint.select         list   codes or prefixes to report instead of those the project selects
    tapelint.extendSelect   list   codes or prefixes to report as well
    tapelint.ignore         list   codes or prefixes to leave out besides those the project ignores
    tapelint.severities     table  code or prefix to error, warning, information, hint or off, over the project's
    tapelint.exclude        list   patterns of files not to check besides those the project excludes
    tapelint.showNotifications  word  off: say nothing of a broken configuration but in its file

What is shown besides diagnostics, where it is switched on (``Shown``):

    tapelint.inlayHints.story     bool   the steps of each finding, behind their lines
    tapelint.inlayHints.tensors   bool   ``grad_fn`` and version, behind assignments
    tapelint.codeLens.backward    bool   what a backward frees and whose gradients it fills, above it
    tapelint.codeLens.step        bool   what the step of an optimizer writes, above it
"""

from __future__ import annotations

import asyncio
import enum
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lsprotocol import types
from pygls.uris import to_fs_path

from ..frozen import frozen
from ..workspace import Config, ConfigError, Given, Resolver, checked_as, from_table
from .delays import DELAYS

logger = logging.getLogger(__name__)

SECTION = "tapelint"

Ask = Callable[[types.ConfigurationParams], Awaitable[Any]]


class Shown(enum.Enum):
    """What may be shown besides diagnostics, with the name of its setting."""

    STORY = ("inlayHints", "story")
    TENSORS = ("inlayHints", "tensors")
    BACKWARD = ("codeLens", "backward")
    STEP = ("codeLens", "step")


@frozen
class Settings:
    """The editor's settings for the folder ``root``, a path; of what is ``shown`` besides diagnostics, what is switched
    on.
    """

    enable: bool = True
    values: Mapping[str, object] = field(default_factory=dict)
    shown: frozenset[Shown] = frozenset()
    checks_closed: bool = False
    waits_for_save: bool = False
    configuration: str = ""
    is_quiet: bool = False
    root: str = ""

    @classmethod
    def from_client(cls, value: object, root: str = "") -> Settings:
        """From whatever the client sent; what has not even the right shape counts as not set."""
        if not isinstance(value, dict):
            return cls()
        values = {key: shape(value.get(name)) for name, (key, shape) in SETTINGS.items()}
        known = {key: found for key, found in values.items() if found}
        shown = frozenset(each for each in Shown if _is_on(value, each))
        return cls(
            value.get("enable") is not False,
            known,
            shown,
            value.get("diagnosticMode") == "workspace",
            value.get("run") == "onSave",
            _path(value.get("configuration"), root),
            value.get("showNotifications") == "off",
            root,
        )

    @property
    def given(self) -> Given:
        """Which files of configuration count, and what is excluded besides; raises ConfigError."""
        patterns = {"extend-exclude": self.values["extend-exclude"]} if "extend-exclude" in self.values else {}
        own = from_table(patterns, "the editor's settings", root=self.root)
        return Given(self.configuration, fields=(("extend_exclude", own.extend_exclude),), root=self.root)

    def checks(self, path: str, resolver: Resolver, main: str) -> bool:
        """Whether a file that ``main`` imports is one of its project, and not excluded."""
        try:
            return checked_as(path, resolver, main, self.given) is not None
        except ConfigError:
            return False

    def config(self, path: str | None) -> tuple[Config, str | None]:
        """The project's configuration for the file ``path`` with these settings on top, and what is wrong with either.

        A mistake in one of them must not switch the analysis off: the user is informed, and what can be used is used.
        """
        config, complaint = Config(), None
        try:
            if path is not None and self.configuration and not os.path.isfile(self.configuration):
                raise ConfigError(f"the editor's settings: configuration: there is no file {self.configuration}")
            if path is not None:
                config = self.given.config(Path(path))
            own = from_table(self.values, "the editor's settings", root=self.root)
            config = replace(
                config,
                select=own.select or config.select,
                extend_select=config.extend_select + own.extend_select,
                ignore=config.ignore + own.ignore,
                severities=own.severities + config.severities,
            )
        except ConfigError as error:
            complaint = str(error)
        return config, complaint


def _is_on(value: dict[str, object], shown: Shown) -> bool:
    group, name = shown.value
    table = value.get(group)
    return isinstance(table, dict) and table.get(name) is True


def _path(value: object, root: str) -> str:
    """A path as it is set, from the folder ``root`` on."""
    if not isinstance(value, str) or not value.strip():
        return ""
    return os.path.join(root, os.path.expanduser(value.strip().replace("${workspaceFolder}", root)))


def _words(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        return ()
    return tuple(entry for entry in value if isinstance(entry, str) and entry.strip())


def _table(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {key: word for key, word in value.items() if isinstance(key, str) and isinstance(word, str)}


SETTINGS: dict[str, tuple[str, Callable[[object], Any]]] = {
    "select": ("select", _words),
    "extendSelect": ("extend-select", _words),
    "ignore": ("ignore", _words),
    "severities": ("severities", _table),
    "exclude": ("extend-exclude", _words),
}
"""The editor's names of the keys of a configuration, and what shape their values have to have."""


class SettingsOfFolders:
    """The settings of each workspace folder, and those of files outside all of them under the empty name."""

    def __init__(self) -> None:
        self._by_folder: dict[str, Settings] = {"": Settings()}

    def settings(self, uri: str) -> Settings:
        uri = unquote(uri)
        inside = [folder for folder in self._by_folder if not folder or uri.startswith(f"{folder}/")]
        return self._by_folder[max(inside, key=len)]

    def take(self, value: object) -> bool:
        """One value for all folders, from a client that sends its settings unasked; whether anything changed."""
        section = value.get(SECTION, value) if isinstance(value, dict) else None
        return self._replace({"": Settings.from_client(section)})

    async def fetch(self, ask: Ask, folders: list[str]) -> bool:
        """Ask the client; whether anything changed.

        One that does not answer in time leaves things as they are: start-up must not wait for it.
        """
        items = [types.ConfigurationItem(scope_uri=uri, section=SECTION) for uri in (None, *folders)]
        try:
            answer = await asyncio.wait_for(ask(types.ConfigurationParams(items)), DELAYS.settings)
        except Exception as error:
            logger.warning("the editor's settings could not be read: %r", error)
            return False
        if not isinstance(answer, (list, tuple)) or len(answer) != len(items):
            return False
        names = ("", *(unquote(uri).rstrip("/") for uri in folders))
        roots = ("", *(to_fs_path(uri) or "" for uri in folders))
        found = zip(names, answer, roots, strict=True)
        return self._replace({name: Settings.from_client(value, root) for name, value, root in found})

    def _replace(self, by_folder: dict[str, Settings]) -> bool:
        before, self._by_folder = self._by_folder, by_folder
        return before != by_folder
