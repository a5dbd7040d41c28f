"""Gradients on their way: one tensor may be on its way to several.

    z = x + y          # the gradient of z is handed to x and to y, the same tensor, no copy
    x.register_hook(lambda g: g.mul_(2))   # changes what y is given

Most derivatives compute a new tensor for each input; that of an addition hands on the one it was given. A pass reaches
leaves first, in the order they were added in, then to the youngest node; who comes later finds what was written.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..events.graph_walks import GradientModified
from ..facts import Facts
from ..model.graph import Leaf, Node
from ..state import AutogradState

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
