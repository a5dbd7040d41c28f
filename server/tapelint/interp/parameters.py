"""Parameters that nobody gives: inferred from annotations, defaults and use.

    def train(model, loader, optimizer, epochs=10):     epochs is 10
        for x, y in loader:                             yields data
            loss = model(x).sum()                       is called, and nothing else: a network
            optimizer.step()                            is stepped: an optimizer
"""

from __future__ import annotations

import ast
import re

from ..tape import State
from .keeping import uses_of
from .machine import Machine
from .values import Const, Function, Optimizer, Ref, Unknown, Value


def inferred(m: Machine, state: State, function: Function, parameters: list[ast.arg]) -> dict[str, Value]:
    """Values for parameters nobody gave: by annotation, by default, by use. What has a plain default keeps it, unless
    it is a switch (True, False, None), which may be either.
    """
    uses = uses_of(state, function)
    defaults: dict[str, Value] = {}
    positional = [*function.node.args.posonlyargs, *function.node.args.args]
    for parameter, value in zip(reversed(positional), reversed(function.defaults)):
        defaults[parameter.arg] = value
    defaults.update(function.keyword_defaults)
    values: dict[str, Value] = {}
    for parameter in (*parameters, *function.node.args.kwonlyargs):
        name = parameter.arg
        default = defaults.get(name)
        if default is not None and not is_switch(default):
            continue
        values[name] = _infer(m, state, parameter, uses.get(name, set()), function.node)
    return values


def is_switch(default: Value) -> bool:
    """Whether a default is True, False or None: a caller may well mean the other."""
    return isinstance(default, Const) and (default.value is None or isinstance(default.value, bool))


def _infer(m: Machine, state: State, parameter: ast.arg, uses: set[str], node: ast.AST) -> Value:
    from .library.layers import opaque_module

    annotation = ast.unparse(parameter.annotation) if parameter.annotation is not None else ""
    last = annotation.rpartition(".")[2]
    if (
        last in ("Module", "Sequential")
        or "forward" in uses
        or uses & {"parameters", "eval", "train", "state_dict", "zero_grad", "named_parameters"}
        and "()" in uses
    ):
        return opaque_module(m, state, parameter.arg, node)
    if last in ("Optimizer", *OPTIMIZERS) or {"step", "zero_grad"} <= uses and "()" not in uses:
        return Ref(state.new(Optimizer(parameter.arg, [], True)))
    if "()" in uses and not annotation and not SILENT.search(parameter.arg):
        return opaque_module(m, state, parameter.arg, node)
    if last == "Tensor":
        return Unknown("batch", None)
    return Unknown(parameter.arg)


SILENT = re.compile(
    r"transf|proc|augm|tok|encode_|env|load|fn|func|callback|log|metric|crit|loss|reward|sampl|sched|step|collat|eval|get|make|build|act|norm|hook",
    re.I,
)
"""Names of parameters that are called but are hardly networks: nothing is concluded from what they return."""

OPTIMIZERS = ("SGD", "Adam", "AdamW", "RMSprop")
