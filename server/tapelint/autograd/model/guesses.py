"""What is guessed of a graph: that something unknown is a network, whose parameters require grad.

net = build(options)                  unknown, and asked for `parameters()`
loss = F.mse_loss(net(x), y)          has a graph if `net` is a network whose parameters require grad,
loss = loss + weight.norm()           and now has one in any case
"""

from __future__ import annotations

from collections.abc import Iterable

from ..state import AutogradState
from .graph import Leaf, Node
from .graph_search import leaf_tensors


def guess_below(state: AutogradState, begin: Iterable[Node | Leaf]) -> str | None:
    """What has to be guessed for there to be a graph below these; None if it is certain that there is one."""
    leaves = [state.tensors[key] for key in sorted(leaf_tensors(begin))]
    trained = [tensor for tensor in leaves if tensor.requires_grad]
    if not trained or not all(tensor.is_guessed for tensor in trained):
        return None
    return trained[0].assumption_text
