"""What the programs of the specification use of tqdm: it passes an iterable through, and shows nothing here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class tqdm:
    """A progress bar, over nothing where it is given no iterable."""

    def __init__(self, iterable: Iterable[object] = (), total: int | None = None, disable: bool = False) -> None:
        self.iterable = iterable

    def __iter__(self) -> Iterator[object]:
        return iter(self.iterable)

    def set_description(self, text: str) -> None:
        """Shown before the bar."""

    def set_postfix(self, **shown: object) -> None:
        """Shown after it."""

    def update(self, count: int = 1) -> None:
        """So many steps are done."""
