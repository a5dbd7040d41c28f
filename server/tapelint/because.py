"""Why something holds that the code alone does not decide: the one reason of paths, writes, passes and findings.

    if args.amp: ...              a path: `--amp` is given
    y = library.scale(x)          a node that exists if `library.scale` keeps a graph
    optimizer.step()              a write, if `optimizer` holds the parameters of `net`

A reason is a conjunction of atoms. What happens needs all of its reasons: they are joined by ``&``. What is decided has
none, and is false as a condition.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto
from typing import Literal

from .frozen import frozen

AtomKind = Literal["ordinary", "called", "chosen", "followed", "guessed", "tested"]
"""``ordinary``: what programs usually do, such as that a loop runs twice. ``called``: which code uses that in which it
happens. ``chosen``: the value of an option, or which way an unknown test goes. ``followed``: that other paths were left
out for their number. ``guessed``: what an object is, or what a caller does. ``tested``: a test does it, so it is no use
of the program.
"""
AND, UNSEEN = " and that ", ", which tapelint cannot see"


class RunBy(Enum):
    """What runs the code in which a hazard was found."""

    # The program: the script, and what it imports.
    PROGRAM = auto()
    # pytest or unittest.
    TESTS = auto()
    # A caller that was imagined: no code of the program calls it.
    IMAGINED = auto()


@frozen
class Atom:
    """One thing that has to hold; ``text`` is a clause without a full stop (``"`args.resume` is false"``)."""

    kind: AtomKind
    text: str

    @property
    def sentence(self) -> str:
        """What a reader must know of it; empty for what goes without saying."""
        match self.kind:
            case "ordinary" | "tested":
                return ""
            case "chosen":
                return f"Happens if {self.text}."
            case "called" | "followed":
                return f"Happens {self.text}."
            case "guessed":
                return f"Assumes that {self.text}."


@frozen
class Because:
    """Atoms that all have to hold, in the order in which they were met, each once."""

    atoms: tuple[Atom, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.atoms)

    def __and__(self, other: Because) -> Because:
        if not other.atoms or other is self:
            return self
        return Because(tuple(dict.fromkeys((*self.atoms, *other.atoms)))) if self.atoms else other

    def without(self, other: Because) -> Because:
        """What is left where ``other`` is known to hold."""
        return Because(tuple(atom for atom in self.atoms if atom not in other.atoms))

    @property
    def words(self) -> str:
        """All clauses as one."""
        return AND.join(atom.text for atom in self.atoms).replace(f"{UNSEEN}{AND}", f"{UNSEEN},{AND}")


NOTHING = Because()
"""The reason of what the code decides."""


def guess(text: str) -> Because:
    """It is guessed what an object is, or what a caller does."""
    return Because((Atom("guessed", text),))


def option(text: str) -> Because:
    """An option of the program has a value that is not its default."""
    return Because((Atom("chosen", text),))


def all_hold(reasons: Iterable[Because]) -> Because:
    """All of several reasons."""
    found = NOTHING
    for each in reasons:
        found = found & each
    return found
