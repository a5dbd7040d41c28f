"""What is guessed of a graph: that something unknown is a network, whose parameters require grad.

net = build(options)                  unknown, and asked for `parameters()`
loss = F.mse_loss(net(x), y)          has a graph if `net` is a network whose parameters require grad,
loss = loss + weight.norm()           and now has one in any case

What is called and nothing else may make data as well. A backward that had no other graph to walk proves that it is a
network; before that nothing rests on it alone.

state = prepare(observation)          `prepare` is a parameter
critic(state).mean().backward()       walks the graph of `critic`: this says nothing of `prepare`
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable

from ...because import NOTHING, UNSEEN, Because, guess
from ..state import AutogradState
from .graph import Leaf, Node, Tensor
from .graph_search import leaf_tensors, nodes_below


def guess_below(state: AutogradState, begin: Iterable[Node | Leaf]) -> Because:
    """What has to be guessed for there to be a graph below these; nothing if it is certain that there is one."""
    trained = _guessed_below(state, begin)
    return trained[0].because if trained else NOTHING


def _guessed_below(state: AutogradState, begin: Iterable[Node | Leaf]) -> list[Tensor]:
    """The leaves below these that require grad, if all of them belong to guessed networks; none otherwise."""
    leaves = [state.tensors[key] for key in sorted(leaf_tensors(begin))]
    trained = [tensor for tensor in leaves if tensor.requires_grad]
    return trained if all(tensor.is_guessed for tensor in trained) else []


def prove_networks(proven: set[int], state: AutogradState, begin: Iterable[Node | Leaf]) -> None:
    """A backward begins: had the guessed networks below not been some, there would be nothing to walk. Their leaves
    are ``proven``.
    """
    proven.update(tensor.id for tensor in _guessed_below(state, begin))


def is_unproven(proven: Collection[int], state: AutogradState, begin: Iterable[Node | Leaf]) -> bool:
    """Whether there is a graph below these only if something is a network that is called, and nothing else shows it."""
    trained = _guessed_below(state, begin)
    return bool(trained) and not any(tensor.id in proven for tensor in trained)


def unseen_above(item: Node, root: Node, doubted: Collection[int] = ()) -> str | None:
    """The unknown code but for which there would be no ``item`` below ``root``, by its name: it has to keep a graph.
    None where ``item`` leads to a leaf without it, or where there would be no ``root`` either: a call that is run again
    keeps a graph as it did before. ``item`` is not sure of leaves that are ``doubted``.

        advantage = library.normalized(critic(x))      perhaps detached
        loss = policy(x) * advantage ** 2              has a graph anyway, `advantage ** 2` has not
    """
    below = _unseen((item,), doubted)
    if not below:
        return None
    beside = _unseen((root,))
    return None if beside and beside.keys() <= below.keys() else next(iter(below.values()))


def assumed_below(state: AutogradState, begin: Node) -> Because:
    """What has to be assumed for there to be a graph at ``begin``; nothing if it is certain that there is one."""
    return guess_below(state, (begin,)) or keeping(next(iter(_unseen((begin,)).values()), None))


def shown_by_pass(state: AutogradState, tensor: Tensor) -> Because | None:
    """What is still assumed of what unknown code gave and a pass has walked, for it to require grad: nothing, if
    without it there would have been nothing to walk; that the code keeps a graph, if the target of a loss may have had
    one instead, or the loss is not known and may have parameters; None where no pass shows anything. It may be a leaf,
    and its gradient may have been retained.

        out = model(x)                         unknown
        F.cross_entropy(out, label).backward() ran: `out` requires grad, or `label` does
        out.numpy()                            raises
    """
    graph = tensor.grad_fn
    walk = (state.freed.get(graph) or state.retained.get(graph)) if graph is not None else None
    if graph is None or walk is None or graph.assumption is None:
        return None
    roots = [each for each in walk.begin if isinstance(each, Node)]
    if _unseen(walk.begin, _open_targets(state, roots)).keys() == {graph.created_at.node}:
        return NOTHING if _unseen(walk.begin) else keeping(graph.assumption)
    is_of_loss = _unseen(edge for root in roots for edge in root.inputs).keys() == {graph.created_at.node}
    return keeping(graph.assumption) if is_of_loss else None


def _open_targets(state: AutogradState, roots: Iterable[Node]) -> set[int]:
    """The targets of losses below these of which it is not known whether they require grad."""
    return {
        each.tensor
        for node in nodes_below(roots)
        for name, each in node.named_inputs
        if name == "target" and isinstance(each, Leaf) and state.tensors[each.tensor].requires_grad is None
    }


def keeping(callee: str | None) -> Because:
    """What is assumed of unknown code that a graph leads through."""
    return guess(f"`{callee}` keeps a graph{UNSEEN}") if callee else NOTHING


def _unseen(begin: Iterable[Node | Leaf], doubted: Collection[int] = ()) -> dict[ast.AST, str]:
    """The calls of unknown code through which every way from these to a leaf leads, wherever they were run, each with
    the name of what is called; none if there is another way. Leaves that are ``doubted`` are none.
    """
    found, seen, todo = dict[ast.AST, str](), set[Node](), [*begin]
    while todo:
        node = todo.pop()
        if isinstance(node, Leaf):
            if node.tensor not in doubted:
                return {}
            continue
        if node in seen:
            continue
        seen.add(node)
        if node.assumption is not None:
            found[node.created_at.node] = node.assumption
        elif not node.inputs:
            return {}
        else:
            todo += node.inputs
    return found
