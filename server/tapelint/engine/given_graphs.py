"""For which parameters of a function the calls in a program give what may carry a graph.

def gabor(radius, sigma): ...

gabor(torch.linspace(0, 1, 5), sigma)     `radius` never carries one, `sigma` may: it is not known
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence

from ..autograd import resolve_view
from ..domain.state import State
from ..domain.values import Origin, TensorRef, Unknown, Value
from .analysis_unit import AnalysisUnit

Led = set[tuple[ast.AST, str]]
"""Functions, each with a parameter that was given something that may carry a graph."""

UNKNOWN = (Origin.ANY, Origin.NAME, Origin.ITEM)
"""Where what may be anything comes from."""


def note(
    led: Led,
    state: State,
    definition: ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
) -> None:
    """Take note of a call. Only tensors, and what is not known, count; what stands in a list or an object does not."""
    spec = definition.args
    for parameter, value in zip((*spec.posonlyargs, *spec.args), args):
        if may_lead(state, value):
            led.add((definition, parameter.arg))
    for name, value in kwargs.items():
        if may_lead(state, value):
            led.add((definition, name))


def may_lead(state: State, value: Value) -> bool:
    """Whether a value may carry a graph. A view has that of its base."""
    if isinstance(value, TensorRef):
        tensor = resolve_view(state, value.id)
        return tensor.requires_grad is not False or tensor.base is not None and may_lead(state, TensorRef(tensor.base))
    return isinstance(value, Unknown) and value.requires_grad is not False and value.origin in UNKNOWN


def given_graphs(function: ast.AST, units: Iterable[AnalysisUnit]) -> frozenset[str] | None:
    """The parameters for which ``units`` have given a function what may carry a graph; None if none has called it."""
    callers = [unit for unit in units if function in unit.called]
    return frozenset(name for unit in callers for each, name in unit.led if each is function) if callers else None
