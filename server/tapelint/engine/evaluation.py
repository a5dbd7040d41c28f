"""What models, loops and imports may ask of the evaluator.

A model of ``map`` calls the function it is given, ``list(x)`` iterates over an object of the program, ``getattr`` loads
an attribute: all of that is the meaning of Python code, which ``semantics`` gives and which itself asks the models. So
the models know only this class; ``semantics/evaluator.py`` fills it in.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from dataclasses import dataclass

from ..domain.state import State
from ..domain.values import Generator, HeapRef, Value


@dataclass(slots=True)
class Items:
    """The first items of an iterable."""

    values: list[Value]
    # Whether there are no others.
    exact: bool


class Evaluation(ABC):
    """Calls, iterations, attributes and operators, as the program would do them at ``node``.

    ``key`` is that by which the memo knows the call; with it the call may end in several states.
    """

    @abstractmethod
    def call(
        self,
        state: State,
        function: Value,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        key: object = None,
    ) -> Value:
        """``function(*args, **kwargs)``, whatever the function is."""

    @abstractmethod
    def call_unhooked(
        self,
        state: State,
        receiver: HeapRef,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        key: object = None,
    ) -> Value:
        """``receiver(*args, **kwargs)`` without the hooks of the module."""

    @abstractmethod
    def call_unknown(
        self, state: State, args: list[Value], kwargs: dict[str, Value], node: ast.AST, function: Value
    ) -> Value:
        """The call of a function of which nothing is known: what it is given has escaped."""

    @abstractmethod
    def call_dunder(self, state: State, receiver: Value, name: str, args: list[Value], node: ast.AST) -> Value | None:
        """A special method of the program's own class; None where the class has none."""

    @abstractmethod
    def iterate(self, state: State, value: Value, node: ast.AST, iterations: int | None = None) -> Items:
        """Up to ``iterations`` items (`Limits.unroll` where it is None) where there may be many; all of them where they
        are few and known.
        """

    @abstractmethod
    def iterator(self, state: State, value: Value, node: ast.AST) -> Value:
        """``iter(value)``."""

    @abstractmethod
    def items_due(self, state: State, value: Value, node: ast.AST, iterations: int) -> Items:
        """The items of an iterator; ``__next__`` of the program's own objects is not called for them yet."""

    @abstractmethod
    def come_due(self, state: State, item: Value, node: ast.AST, everywhere: bool = False) -> Value:
        """The item itself, for which ``__next__`` is called if it is due. Raises ``IteratorExhausted`` if there is
        none.
        """

    @abstractmethod
    def collect(self, state: State, generator: Generator, iterations: int | None = None) -> Items:
        """The first values of a generator, run to completion at once."""

    @abstractmethod
    def combine(self, state: State, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value:
        """``left op right``."""

    @abstractmethod
    def is_opaque(self, state: State, value: Value) -> bool:
        """Whether a value is an attribute of which it is not known whether it is a method."""

    @abstractmethod
    def load_attribute(self, state: State, owner: Value, name: str, node: ast.AST, key: object = None) -> Value:
        """``owner.name``."""

    @abstractmethod
    def store_attribute(self, state: State, owner: Value, name: str, value: Value, node: ast.AST) -> None:
        """``owner.name = value``."""
