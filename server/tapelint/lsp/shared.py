"""What open documents are the reason for in other files: kept by document, pushed to files that are not open."""

from __future__ import annotations

from collections.abc import Callable, Collection

from lsprotocol import types

from .client_capabilities import ClientCapabilities
from .foreign import Contribution, Foreign, on_disk

Push = Callable[[str, list[types.Diagnostic]], None]
"""Shows diagnostics in a file that is not open, by URI."""


class Shared:
    """The contributions of the open documents, and what of them the client has been sent for files on disk."""

    def __init__(self, push: Push) -> None:
        self._push = push
        self._by_uri: dict[str, Contribution] = {}
        self._pushed: dict[str, tuple[str, list[types.Diagnostic]]] = {}

    def by(self, uri: str) -> Contribution:
        """The contribution of a document."""
        return self._by_uri.setdefault(uri, Contribution())

    def forget(self, uri: str) -> None:
        """A document was closed."""
        self._by_uri.pop(uri, None)

    def drop(self, path: str) -> None:
        """A file has another text now: what was found in it may be gone, or stand elsewhere."""
        for contribution in self._by_uri.values():
            contribution.drop(path)

    def of(self, path: str) -> list[Foreign]:
        """What is known of a file."""
        return [each for contribution in self._by_uri.values() for each in contribution.of(path)]

    def push(self, opened: Collection[str], client: ClientCapabilities) -> None:
        """Send what has changed for files that are not among the ``opened`` ones, and take back what is gone."""
        known = {path for contribution in self._by_uri.values() for path in contribution.paths} - {*opened}
        for path in sorted({*known, *self._pushed}):
            before = self._pushed.pop(path, None)
            if path in known:
                self._pushed[path] = on_disk(path, self.of(path), client)
                if self._pushed[path] != before:
                    self._push(*self._pushed[path])
            elif before is not None and (path not in opened or client.pulls):
                self._push(before[0], [])
