"""Going over trees: nothing is left out but operators and contexts."""

from __future__ import annotations

import ast

from tapelint.source import children, walk

PROGRAM = """
import torch.nn as nn
@decorate
class Net(nn.Module, metaclass=Meta):
    async def forward(self, x: int, *rest, flag=True, **more) -> "Tensor":
        global count
        async with lock as held, other:
            yield {**more, 1: [a for a in rest if not a < 2 <= 3], "s": f"{x!r:>{width}}"}
        try:
            del x[1:2, ...], rest
        except (KeyError, ValueError) as error:
            raise RuntimeError from error
        finally:
            assert (y := x.T) @ -x and flag or (lambda z, /, *, k=None: z)(*rest, **more)
match point:
    case Point(0, y=1, z=[first, *others]) | {"key": value, **rest} if first:
        total += value
    case None:
        pass
"""
LEFT_OUT = (ast.expr_context, ast.operator, ast.cmpop, ast.unaryop, ast.boolop)


def test_each_node_is_visited_once() -> None:
    tree = ast.parse(PROGRAM)
    everything = {node for node in ast.walk(tree) if not isinstance(node, LEFT_OUT)}
    met = list(walk(tree))
    assert set(met) == everything
    assert len(met) == len(everything)


def test_children_are_in_source_order() -> None:
    for node in ast.walk(ast.parse(PROGRAM)):
        if not isinstance(node, LEFT_OUT):
            assert children(node) == [each for each in ast.iter_child_nodes(node) if not isinstance(each, LEFT_OUT)]
