"""How a path leaves the normal flow of statements.

return loss          Return(TensorRef(7)): until the call that is running
break, continue      until the loop
raise, or PyTorch    Raise(ProgramRaised("RuntimeError", ...)): until a handler that catches it
"""

from __future__ import annotations

import builtins
from collections.abc import Collection

from ..autograd import ProgramPoint
from ..autograd.events.graph_walks import is_of_another
from ..frozen import frozen
from .values import Expecting, Value


class ProgramRaised(Exception):
    """The program raises on this path."""

    def __init__(
        self,
        name: str,
        message: str = "",
        by_torch: bool = False,
        is_meant: bool = False,
        kinds: tuple[str, ...] = (),
    ) -> None:
        super().__init__(name, message)
        # The class of the exception, as far as it is known.
        self.name = name
        # Its class and those that it is derived from (`kinds_of`); those of Python are known otherwise.
        self.kinds = kinds or (name,)
        self.message = message
        # Whether PyTorch raises it.
        self.by_torch = by_torch
        # Whether a ``raise`` statement of the program raises it; it is an error otherwise.
        self.is_meant = is_meant
        # Where it was raised, in the innermost expression or statement.
        self.point: ProgramPoint | None = None
        # Whether an event was published of it.
        self.is_published = False

    @property
    def is_refusal(self) -> bool:
        """Whether Python refuses to do it, perhaps since something is not what callers give."""
        return self.name in REFUSED and not self.by_torch and not self.is_meant

    @property
    def is_unwanted(self) -> bool:
        """Whether a program that runs as meant does not end in it: not in a refusal, nor where it checks what it was
        given.
        """
        return self.is_refusal or self.is_meant and not self.is_skip and ENDS.isdisjoint(self.kinds)

    @property
    def is_skip(self) -> bool:
        """Whether it ends a test that is not to run here: no failure, and none of what comes after it is certain."""
        return not SKIPS.isdisjoint(self.kinds)


@frozen
class Caught:
    """The formula of an exception that a handler has caught: ``except KeyError as e`` binds a value of it to ``e``."""

    error: ProgramRaised


REFUSED = frozenset(("TypeError", "AttributeError", "IndexError", "ZeroDivisionError"))
"""What an operand of a wrong type or size raises."""
ENDS = frozenset(("SystemExit", "KeyboardInterrupt", "StopIteration", "GeneratorExit"))
"""What ends a program, a loop or a generator as it is meant to."""
SKIPS = frozenset(("Skipped", "SkipTest"))
"""What pytest and unittest raise to end a test that is not to run."""


def takes(kinds: Collection[str], error: ProgramRaised) -> bool:
    """Whether a handler of exceptions of these ``kinds`` (`kinds_of`) is one for an error."""
    known = [base for kind in error.kinds for base in _bases_of(kind)]
    return not {*error.kinds, *(known or ("Exception", "BaseException"))}.isdisjoint(kinds)


def ends(manager: Expecting, error: ProgramRaised) -> bool:
    """Whether an error ends with the block of a context manager. One of a class that is not known is taken for what is
    expected there.
    """
    is_unknown = error.is_meant and error.name == "Exception" and not error.by_torch
    if error.by_torch and manager.pattern is not None and is_of_another(manager.pattern, error.message):
        return False
    return takes(manager.kinds, error) or bool(manager.kinds) and is_unknown


def _bases_of(name: str) -> list[str]:
    """The classes of Python that an exception of Python is derived from: ``LookupError`` of a ``KeyError``."""
    kind = getattr(builtins, name, None)
    return [base.__name__ for base in kind.__mro__] if isinstance(kind, type) else []


class IteratorExhausted(ProgramRaised):
    """An iterator has no other item."""


@frozen
class Break:
    """``break``."""


@frozen
class Continue:
    """``continue``."""


@frozen
class Return:
    """``return value``."""

    value: Value


@frozen
class Raise:
    """An exception that no handler has caught yet."""

    error: ProgramRaised


@frozen
class Unwind:
    """The body of a loop over a generator was left by ``completion``, so the generator is left, too."""

    completion: Break | Return | Raise | Unwind


Completion = Break | Continue | Return | Raise | Unwind
