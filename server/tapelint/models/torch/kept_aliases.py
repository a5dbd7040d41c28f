"""A tensor that was kept, written since, and is compared with itself.

before = net.weight                      # no copy, and `net.weight.data` is none either
optimizer.step()                         # writes there
torch.equal(before, net.weight)          # always True
net.weight - before                      # always 0

target = q.detach()                      # no copy: what is written there is written to `q`
target[0, action] = reward
F.mse_loss(q, target)                    # always 0
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...autograd import Write
from ...autograd.events.graph_walks import KeptValueCompared
from ...autograd.facts import Kept
from ...autograd.state import fresh_id
from ...domain.state import State
from ...domain.values import TensorRef, Value
from ...engine.machine import Machine
from ...ops.traits import traits_of
from ...source import written

PATHS = (ast.Name, ast.Attribute, ast.Subscript)


def bound(
    machine: Machine, state: State, target: ast.expr, value: Value, source: ast.expr | None, statement: ast.AST
) -> None:
    """``target`` is about to be another name of a tensor that is there already: of what ``source`` leads to, or of a
    parameter.
    """
    if isinstance(value, TensorRef) and (isinstance(source, PATHS) or state.tensors[value.id].parameter):
        machine.facts.origins.bound[value.id, written(target)] = Kept(fresh_id(), state.point(statement), value.id)


def measured(machine: Machine, state: State, op: str, args: Sequence[Value], node: ast.AST) -> None:
    """A loss that says how far its first two arguments are apart is computed."""
    if "measures" not in traits_of(op) or not isinstance(node, ast.Call):
        return
    if len(args) > 1 and len(node.args) > 1 and not any(isinstance(given, ast.Starred) for given in node.args[:2]):
        compared(machine, state, args[0], args[1], (node.args[0], node.args[1]), node)


def compared(
    machine: Machine, state: State, left: Value, right: Value, operands: tuple[ast.expr, ast.expr], node: ast.AST
) -> None:
    """Publish that two operands are the same memory, one of them kept before a certain write."""
    memory = _memory(machine, state, left)
    if memory is None or memory != _memory(machine, state, right) or written(operands[0]) == written(operands[1]):
        return
    assert isinstance(left, TensorRef)
    assert isinstance(right, TensorRef)
    same = left == right
    for value, source, other in ((left, operands[0], operands[1]), (right, operands[1], operands[0])):
        kept = machine.facts.origins.bound.get((value.id, written(source))) if same else _alias(state, value.id, memory)
        write = _written_since(state, memory, kept.stamp) if kept is not None else None
        if kept is not None and write is not None:
            machine.facts.events.publish(
                KeptValueCompared(
                    point=state.point(node),
                    because=state.tensors[memory].because or write.because,
                    kept=kept.point,
                    write=write,
                    source=source,
                    other=other,
                )
            )
            return


def _memory(machine: Machine, state: State, value: Value) -> int | None:
    """The storage of which a value is the whole, for certain."""
    if not isinstance(value, TensorRef) or value.id in machine.facts.memory.parts:
        return None
    tensor = state.tensors[value.id]
    return tensor.storage if tensor.base is None and tensor.storage not in machine.facts.memory.converted else None


def _alias(state: State, key: int, memory: int) -> Kept | None:
    """Another tensor in the same memory, such as its ``.data``, is kept since it was made."""
    return Kept(key, state.tensors[key].created_at, key) if key != memory else None


def _written_since(state: State, memory: int, stamp: int) -> Write | None:
    """The first certain write to the memory after ``stamp``."""
    chains = (state.writes.get(memory), state.untracked_writes.get(memory))
    found = [w for each in chains if each is not None for w in each.chain() if w.certain and w.stamp > stamp]
    return min(found, key=lambda w: w.stamp, default=None)
