"""How a path leaves the normal flow of statements.

return loss          Return(TensorRef(7)): until the call that is running
break, continue      until the loop
raise, or PyTorch    Raise(ProgramRaised("RuntimeError", ...)): until a handler that catches it
"""

from __future__ import annotations

from ..autograd.frozen import frozen
from .values import Value


class ProgramRaised(Exception):
    """The program raises on this path."""

    def __init__(self, name: str, message: str = "", by_torch: bool = False, is_meant: bool = False) -> None:
        super().__init__(name, message)
        # The class of the exception, as far as it is known.
        self.name = name
        self.message = message
        # Whether PyTorch raises it.
        self.by_torch = by_torch
        # Whether a ``raise`` statement of the program raises it; it is an error otherwise.
        self.is_meant = is_meant


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
