"""What a piece of code asks of a variable, or of an attribute of ``self``, by the methods that it calls.

    net = build(options)
    opt = SGD(net.parameters())      `net` is asked for `parameters`
    net(x).sum().backward()          and called: ``()``

Only the code of a function itself counts: a nested function may have a variable of its own under that name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from ...source import body_of, cached_on_node, children, dotted, walk
from .walked_results import LoneCall, lone_calls

SELF = "self."
"""How a dotted name begins that stands for an attribute of the object that runs."""
CALLED = "()"
"""What is asked of something that is called itself."""
RUN = frozenset((CALLED, "forward"))
"""What is asked of something that computes."""
STEPPED = "step()"
"""What is asked of something that is given to the ``step`` of something else: ``scaler.step(opt)``."""
GONE_THROUGH = "().backward()"
"""What is asked of something a method of which returns all that is gone backward through."""
OF_NETWORKS = frozenset("parameters eval train state_dict zero_grad named_parameters".split())
"""What is asked of a network, and may be asked of other things that are not called
(https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html).
"""
ONLY_OF_NETWORKS = frozenset(("parameters", "named_parameters", GONE_THROUGH))
"""What is asked of a network also where others call it."""
OF_OPTIMIZERS = frozenset("step param_groups state defaults state_dict load_state_dict add_param_group".split())
"""What optimizers have, but for ``zero_grad``
(https://docs.pytorch.org/docs/stable/optim.html#torch.optim.Optimizer).
"""
OF_OTHERS = frozenset(("step",))
"""What no network is asked for."""


GRADIENTS = ("grad", "_grad")
"""The names of one attribute of tensors: both can be read and set (torch/csrc/autograd/python_variable.cpp)."""


def is_of_network(asked: frozenset[str]) -> bool:
    """Whether what is ``asked`` of something makes it a network."""
    if asked & OF_OTHERS:
        return False
    return bool(asked & ONLY_OF_NETWORKS) or bool(asked & RUN) and bool(asked & OF_NETWORKS)


def is_of_optimizer(asked: frozenset[str], has_parameters: bool = False) -> bool:
    """Whether what is ``asked`` of something makes it an optimizer, and nothing else. One that was made of parameters
    need not be cleared: the network may be.
    """
    is_cleared = "zero_grad" in asked and not asked.isdisjoint(("step", STEPPED))
    is_one = is_cleared or has_parameters and "step" in asked
    return is_one and asked <= OF_OPTIMIZERS | {"zero_grad", STEPPED}


def is_of_scaler(asked: frozenset[str] | set[str]) -> bool:
    """Whether what is ``asked`` of something makes it a ``GradScaler``."""
    return {"scale", "step"} <= asked and CALLED not in asked


@cached_on_node
def asked_of_variables(scope: ast.AST) -> dict[str, frozenset[str]]:
    """What a function or a module asks of its variables, and of attributes of them, by their dotted names."""
    found = _asked(_own_calls(scope))
    return found | _gone_through(scope, found)


@cached_on_node
def asked_of_attributes(owner: ast.AST) -> dict[str, frozenset[str]]:
    """What the methods of a class ask of attributes of ``self``, and of theirs."""
    found = _asked(node for node in walk(owner) if isinstance(node, ast.Call))
    found |= _gone_through(owner, found)
    return {path.removeprefix(SELF): asked for path, asked in found.items() if path.startswith(SELF)}


def _gone_through(scope: ast.AST, asked: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """What is asked of that whose results a scope goes backward through, by one method: no part of it is an optimizer
    there, and it is given no network that it may run.
    """
    stepped = [path for path, found in asked.items() if "step" in found]
    networks = {path for path, found in asked.items() if found & OF_NETWORKS}
    calls: dict[str, list[LoneCall]] = {}
    for call in lone_calls(scope):
        calls.setdefault(call.receiver, []).append(call)
    lone = (
        path
        for path, found in calls.items()
        if len({call.method for call in found}) == 1
        and all(call.given.isdisjoint(networks) for call in found)
        and not any(each.startswith(f"{path}.") for each in stepped)
    )
    return {path: asked.get(path, frozenset()) | {GONE_THROUGH} for path in lone}


def _asked(calls: Iterable[ast.Call]) -> dict[str, frozenset[str]]:
    """What some calls ask of what has a dotted name."""
    found: dict[str, set[str]] = {}
    for node in calls:
        found.setdefault(dotted(node.func), set()).add(CALLED)
        match node:
            case ast.Call(ast.Attribute(_, "step"), [given], []):
                found.setdefault(dotted(given), set()).add(STEPPED)
            case ast.Call(ast.Name("range"), bounds):
                for bound in bounds:
                    found.setdefault(dotted(bound), set()).add("range")
        if isinstance(node.func, ast.Attribute):
            found.setdefault(dotted(node.func.value), set()).add(node.func.attr)
    return {path: frozenset(asked) for path, asked in found.items() if path}


@cached_on_node
def names_with_gradient(scope: ast.AST) -> frozenset[str]:
    """The names whose ``.grad`` a function or a module reads."""
    found = (node for node in walk(scope) if isinstance(node, ast.Attribute) and node.attr in GRADIENTS)
    return frozenset(node.value.id for node in found if isinstance(node.value, ast.Name))


def _own_calls(scope: ast.AST) -> Iterator[ast.Call]:
    """The calls of a scope, without those of functions and classes in it."""
    todo = body_of(scope)
    while todo:
        node = todo.pop()
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            if isinstance(node, ast.Call):
                yield node
            todo += children(node)
