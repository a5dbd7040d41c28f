"""Hooks: the program's own code that a backward runs between two nodes.

    y.register_hook(f)                             # f(gradient of y), before the node that made y runs
    w.register_post_accumulate_grad_hook(g)        # g(w), as soon as w.grad has been added to
    y.retain_grad()                                # y.grad, although y is no leaf

What a hook writes, keeps or runs backward through happens at that moment of the pass, not after it.

Gradients on their way: one tensor may be on its way to several.

    z = x + y          # the gradient of z is handed to x and to y, the same tensor, no copy
    x.register_hook(lambda g: g.mul_(2))   # changes what y is given

Most derivatives compute a new tensor for each input; that of an addition hands on the one it was given. A pass reaches
leaves first, in the order they were added in, then to the youngest node; who comes later finds what was written.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Literal

from ...frozen import frozen
from ..events.graph_walks import GradientModified
from ..facts import Facts
from ..model.graph import Leaf, Node
from ..model.requires_grad import doubt
from ..model.views import leaf
from ..model.writes import bump
from ..state import AutogradState

Kind = Literal["tensor", "accumulated", "retain", "forward", "forward_pre", "backward", "backward_pre"]


@frozen
class Hook:
    """``target`` is the Node or Leaf whose gradient it waits for, the tensor whose gradient is retained, or a module.

    ``made`` is the syntax that registered it; ``run(state, gradient, node)`` calls it.
    """

    target: object
    kind: Kind
    made: ast.AST
    run: Callable[[AutogradState, Any, ast.AST], Any]


def retain(state: AutogradState, key: int, node: ast.AST) -> None:
    """``.grad`` of a non-leaf: a new tensor with every backward."""
    state.grads[key] = leaf(state, node)


class PendingHooks:
    """The hooks one backward may run, by what they wait for."""

    def __init__(
        self, facts: Facts, state: AutogradState, order: Sequence[Node], node: ast.AST, create: bool | None
    ) -> None:
        self.facts, self.state, self.order, self.node, self.create = facts, state, order, node, create
        self.hooks: dict[Node | Leaf, list[Hook]] = {}
        for hook in state.hooks.values():
            target = hook.target
            if hook.kind == "retain":
                assert isinstance(target, int)
                target = state.tensors[target].grad_fn
            if isinstance(target, (Node, Leaf)):
                self.hooks.setdefault(target, []).append(hook)

    def arrived(self, item: Node | Leaf) -> None:
        """The gradient of ``item``'s result is complete. What retains it comes after the program's hooks."""
        if item not in self.hooks:
            return
        for hook in sorted(self.hooks[item], key=lambda h: h.kind == "retain"):
            if hook.kind == "tensor":
                gradient = self._gradient()
                self._run(hook, gradient)
                written(self.facts, self.state, self.order, item, gradient)
            elif hook.kind == "retain":
                hook.run(self.state, hook.target, self.node)

    def accumulate(self, item: Leaf) -> None:
        """``.grad`` of a leaf: made on the first backward, added to in place afterwards."""
        state = self.state
        grad = state.grads.get(item.tensor)
        if grad is None:
            state.grads[item.tensor] = self._gradient()
        else:
            bump(state, state.tensors[grad].version_counter, "accumulate", self.node)
        for hook in self.hooks.get(item, ()):
            if hook.kind == "accumulated":
                self._run(hook, item.tensor)

    def _gradient(self) -> int:
        made = leaf(self.state, self.node)
        if self.create is not False:
            doubt(self.state, [made])
        return made

    def _run(self, hook: Hook, tensor: int) -> None:
        """Grad mode is on in a hook only where the backward itself is recorded."""
        state = self.state
        mode, state.grad_mode = state.grad_mode, self.create
        try:
            hook.run(state, tensor, self.node)
        finally:
            state.grad_mode = mode


HANDS_ON = "AddBackward0"


def others(order: Sequence[Node], item: Node | Leaf) -> tuple[Node, tuple[Node | Leaf, ...]] | None:
    """The addition that hands its gradient to ``item``, and who gets the same tensor after it; None where it is a sum
    of several gradients, or only its own.
    """
    users = [node for node in order if item in node.inputs]
    if len(users) != 1 or users[0].grad_fn != HANDS_ON or not users[0].certain:
        return None
    later = tuple(other for other in users[0].inputs if other is not item and _comes_after(other, item, users[0]))
    return (users[0], later) if later else None


def _comes_after(other: Node | Leaf, item: Node | Leaf, user: Node) -> bool:
    if isinstance(item, Leaf) and isinstance(other, Leaf):
        return user.inputs.index(other) > user.inputs.index(item)
    if isinstance(item, Node) and isinstance(other, Node):
        return other.id < item.id
    return isinstance(item, Leaf)


def written(facts: Facts, state: AutogradState, order: Sequence[Node], item: Node | Leaf, gradient: int) -> None:
    """The program had ``gradient`` in its hands on the way to ``item``: tell if it wrote what others are given."""
    write = state.writes.get(state.tensors[gradient].version_counter)
    if write is None or not write.certain:
        return
    shared = others(order, item)
    if shared is not None:
        facts.events.publish(GradientModified(point=write.point, addition=shared[0], item=item, others=shared[1]))
