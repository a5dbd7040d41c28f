"""What a rule concludes from an event: a hazard at a place, told as a story."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from .. import __documentation__ as PAGES
from ..tape.events import Event
from ..tape.moment import Moment
from ..tape.tape import Tape
from .cure import Cure


@dataclass(frozen=True, slots=True)
class Link:
    """One step of the story: what happened at ``node``."""

    node: ast.AST
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A hazard at ``node``. ``links`` tell what led to it, in order; ``cures`` come best first; ``raiser`` is where
    PyTorch raises.
    """

    code: str
    node: ast.AST
    moment: Moment
    severity: Literal["error", "warning", "information", "hint"]
    message: str
    links: tuple[Link, ...]
    help: str
    cures: tuple[Cure, ...] = ()
    raiser: ast.AST | None = None


Check = Callable[[Event, Tape], "Finding | None"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One hazard. ``docs`` is the user's documentation in Markdown; ``events`` are the classes ``check`` is given.

    One that is not on by ``default`` reports only where the configuration selects it: it bans what may be right.
    ``raises`` are the errors it predicts, in PyTorch's own words as far as these are always the same.
    """

    code: str
    name: str
    summary: str
    docs: str
    events: tuple[type[Event], ...]
    check: Check
    raises: tuple[str, ...] = ()
    default: bool = True

    @property
    def url(self) -> str | None:
        """The address of the rule's page; None as long as the documentation has none."""
        return f"{PAGES}/rules/{self.code}.md" if PAGES else None
