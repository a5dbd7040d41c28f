"""What is guessed of a graph: that something unknown is a network, whose parameters require grad.

net = build(options)                  unknown, and asked for `parameters()`
loss = F.mse_loss(net(x), y)          has a graph if `net` is a network whose parameters require grad,
loss = loss + weight.norm()           and now has one in any case
"""

from __future__ import annotations

import ast
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


def unseen_above(item: Node, root: Node) -> str | None:
    """The unknown code but for which there would be no ``item`` below ``root``, by its name: it has to keep a graph.
    None where ``item`` leads to a leaf without it, or where there would be no ``root`` either: a call that is run again
    keeps a graph as it did before.

        advantage = library.normalized(critic(x))      perhaps detached
        loss = policy(x) * advantage ** 2              has a graph anyway, `advantage ** 2` has not
    """
    below = _unseen(item)
    if not below:
        return None
    beside = _unseen(root)
    return None if beside and beside.keys() <= below.keys() else next(iter(below.values()))


def _unseen(begin: Node) -> dict[ast.AST, str]:
    """The calls of unknown code through which every way from a node to a leaf leads, wherever they were run, each with
    the name of what is called; none if there is another way.
    """
    found, seen, todo = dict[ast.AST, str](), {begin}, [begin]
    while todo:
        node = todo.pop()
        if node.assumption is not None:
            found[node.created_at.node] = node.assumption
            continue
        if not node.inputs:
            return {}
        for each in node.inputs:
            if isinstance(each, Leaf):
                return {}
            if each not in seen:
                seen.add(each)
                todo.append(each)
    return found
