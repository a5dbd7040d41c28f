"""The story of parameters that no step reaches: held by no optimizer, or updated by hand under a name that is lost."""

from __future__ import annotations

import ast

from ...autograd.events.broken_graph import NothingToOptimize
from ...autograd.events.training_step import NeverStepped, UpdateDropped
from ...autograd.facts import Facts
from ...severity import Severity
from .cure import FixProposal
from .finding import Finding, TraceStep
from .story import code, tensor_name, tensor_names, verb

WRAPPERS = {
    "ModuleList": "module_list",
    "ModuleDict": "module_dict",
    "ParameterList": "parameter_list",
    "ParameterDict": "parameter_dict",
    "Parameter": "parameter",
}


def not_held(event: NeverStepped, facts: Facts) -> Finding:
    """The optimizer of a whole network that has more than the optimizer was given."""
    held = ast.unparse(event.optimizer) if event.optimizer is not None else "the optimizer"
    kept = code(event.attribute) if event.attribute is not None else code(event.value)
    place = event.attribute or event.value
    names = tensor_names(facts, event.leaves)
    cures: tuple[FixProposal, ...] = ()
    if event.why == "later":
        what = f"{kept} was made after `{held}`, which still holds what was there before"
        advice = "build the optimizer when the network is complete, or tell it of the new ones (`add_param_group`)."
        if event.built is not None:
            cures = (FixProposal("move_after", "Build the optimizer afterwards", (event.built, event.value)),)
    else:
        thing = "a tensor, but no `nn.Parameter`" if event.why == "plain" else f"a plain {kind_of(event.wrapper)}"
        what = f"{kept} is {thing}, so `parameters()` does not find {'it' if event.why == 'plain' else 'what is in it'}"
        advice = f"use `nn.{event.wrapper}`." if event.wrapper else "register them as modules or parameters."
        if event.wrapper is not None:
            cures = (FixProposal(WRAPPERS[event.wrapper], f"Make it an `nn.{event.wrapper}`", (event.value,)),)
    message = (
        f"{what}: {names} {verb(names)} given gradients, and {code(event.point.node)} never uses them. Nothing raises."
    )
    links = [TraceStep(event.built, f"`{held}` is given the parameters of the network here")] if event.built else []
    links.append(TraceStep(event.point.node, f"this step does not know {names}", event.point))
    return Finding(
        at=place,
        point=event.point,
        severity=Severity.WARNING,
        message=message,
        links=tuple(links),
        help=advice,
        cures=cures,
    )


def nothing_held(error: str, event: NothingToOptimize) -> Finding:
    """All there is lies where ``parameters()`` does not look."""
    kept = code(event.attribute)
    message = (
        f"{code(event.point.node)} is given nothing: {kept} is a plain {kind_of(event.wrapper)}, so `parameters()` "
        f"does not find what is in it. PyTorch raises “{error}”."
    )
    cures: tuple[FixProposal, ...] = ()
    if event.wrapper is not None:
        cures = (FixProposal(WRAPPERS[event.wrapper], f"Make it an `nn.{event.wrapper}`", (event.value,)),)
    advice = f"use `nn.{event.wrapper}`." if event.wrapper else "register them as modules or parameters."
    links = (TraceStep(event.attribute, "this is what is kept in it"),)
    return Finding(
        point=event.point,
        severity=Severity.ERROR,
        message=message,
        links=links,
        help=advice,
        cures=cures,
    )


def kind_of(wrapper: str | None) -> str:
    return "dict" if wrapper is not None and wrapper.endswith("Dict") else "list"


def dropped(event: UpdateDropped, facts: Facts) -> Finding:
    """``p = p - lr * p.grad`` for the variable of a loop."""
    statement = event.point.node
    leaf = tensor_name(facts, event.leaf) or "the parameter"
    message = (
        f"this computes a new tensor and calls it `{event.name}`, a name that the loop binds again before anybody "
        f"reads it: {leaf} is not updated. Nothing raises."
    )
    cures: tuple[FixProposal, ...] = ()
    if isinstance(statement, ast.Assign):
        cures = (FixProposal("inplace_update", "Update it in place, without gradients", (statement.value,)),)
    advice = f"write into the tensor: `{event.name} -= ...` under `torch.no_grad()`."
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=message,
        help=advice,
        cures=cures,
    )
