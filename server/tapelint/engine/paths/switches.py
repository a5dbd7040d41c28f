"""Arguments that only switch something in PyTorch: they are branches, although no statement says so.

    loss.backward(retain_graph=args.keep)      # one path frees the graph, one keeps it
    with autocast(config.amp): ...             # by position, too

The two paths differ in what becomes of a graph. What is computed for one call alone (``retain_graph=i < n - 1``) is no
such flag: it is another one in the next iteration.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ...because import NOTHING, Because
from ...domain.state import State
from ...domain.values import FALSE, BuiltinMethod, Const, External, Unknown, Value
from ..machine import Machine
from ..observer import Forked
from .conditions import assume, decide, decided
from .defaults import by_default, premise_of
from .parting import Branch, part
from .truth import truth

FLAGS = frozenset(("enabled", "retain_graph", "create_graph", "set_to_none"))
"""Keywords of functions of PyTorch (torch.autograd, torch.amp, torch.optim) that change what becomes of a graph: any
flag for one of these is a branch, and not only one with a default.
"""
KEYWORDS = FLAGS | {"requires_grad", "inplace"}
"""Those, and the others that do."""
GRAD_MODE = "mode"
"""Of ``set_grad_enabled``. It matters now and not in the next iteration: ``set_grad_enabled(phase == "train")``. Where
that is false nothing is concluded: what goes backward may go so by a test that means the same.
"""
POSITIONS: Mapping[str, tuple[str | None, ...]] = {
    "torch.autocast": (None, None, "enabled"),
    "torch.amp.autocast": (None, None, "enabled"),
    "torch.cuda.amp.autocast": ("enabled",),
    "torch.cpu.amp.autocast": ("enabled",),
    "torch.autograd.grad": (None, None, None, "retain_graph", "create_graph"),
    "torch.autograd.backward": (None, None, "retain_graph", "create_graph"),
    "torch.set_grad_enabled": (GRAD_MODE,),
    "backward": (None, "retain_graph", "create_graph"),
    "zero_grad": ("set_to_none",),
    "requires_grad_": ("requires_grad",),
}
"""What is given by position, by the dotted name of the function or the name of the method."""
LATER = ("torch.cuda.amp.GradScaler", "torch.amp.GradScaler", "torch.cuda.amp.grad_scaler.GradScaler")
"""What keeps a switch and asks it later."""


def switch_at(function: Value, position: int) -> str | None:
    """The keyword that an argument by position is given for, if that is a switch."""
    if not isinstance(function, (External, BuiltinMethod)):
        return None
    names = POSITIONS.get(function.name, ())
    return names[position] if position < len(names) else None


def switched(
    machine: Machine, node: ast.expr, state: State, function: Value, keyword: str | None, value: Value
) -> Value:
    """What a switch is set to. Where it depends on an option, or is a flag, the statement is finished both ways."""
    if not isinstance(value, Unknown) or keyword is None or isinstance(function, External) and function.name in LATER:
        return value
    is_flag = keyword == GRAD_MODE or keyword in FLAGS and _is_flag(node, value)
    is_branch = is_flag and isinstance(function, (External, BuiltinMethod))

    def split(key: object) -> Value:
        known, choice, negated = decide(machine, node, state, value)
        is_option = by_default(choice) is not None
        off = value if keyword == GRAD_MODE and not is_option else FALSE
        if known is not None or not is_option and not is_branch:
            return value if known is None else Const(True) if known else off
        other = state.fork()
        if is_option:
            assume(state, choice, not negated)
            assume(other, choice, negated)
        else:
            part(machine, Branch(node, ()), state, other, choice, negated)
        if machine.observer is not None:
            machine.observer.decide(Forked(node, state, other, choice, negated))
        machine.memo.fork(other, key, off)
        return Const(True)

    return machine.memoize(node, "switch", split)


def switch_kept(machine: Machine, state: State, value: Value) -> tuple[bool | None, Because]:
    """Whether a switch is on that an object has kept, and what that supposes where it is off by default. The paths on
    which it is on and off are not distinguished: there is only one thing that differs on them, and it has the premise.
    """
    known = truth(machine, state, value)
    if known is not None or not isinstance(value, Unknown) or value.formula is None:
        return known, NOTHING
    known, formula, negated = decided(state, value.formula)
    return known, NOTHING if known is not None else premise_of(formula, not negated)


def _is_flag(node: ast.expr, value: Unknown) -> bool:
    """Whether a value was not computed for this call: it is a name, an attribute or an item, or the opposite of one."""
    while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node = node.operand
    of_parts = isinstance(value.formula, tuple) and value.formula[:1] not in (("[]",), ("Not",), ("get",))
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and not of_parts
