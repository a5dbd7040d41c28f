"""The story of parameters that no step reaches: held by no optimizer, or updated by hand under a name that is lost."""

from __future__ import annotations

import ast

from ...autograd.events.broken_graph import NothingToOptimize
from ...autograd.events.training_step import NeverStepped, UpdateDropped
from ...autograd.facts import Facts
from ...headline import capitalized, headline
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

UNREGISTERED = (
    "Register what is in it: assign it as an attribute of its own, or use `nn.ModuleList` or `nn.ParameterList`."
)
"""What to do where the kind of container is not seen."""


def not_held(event: NeverStepped, facts: Facts) -> Finding:
    """The optimizer of a whole network that has more than the optimizer was given."""
    held = code(event.optimizer) if event.optimizer is not None else "the optimizer"
    kept = code(event.attribute) if event.attribute is not None else code(event.value)
    place = event.attribute or event.value
    names = tensor_names(facts, event.leaves)
    cures: tuple[FixProposal, ...] = ()
    if event.why == "later":
        what = f"{kept} was made after {held}, which does not hold it"
        advice = "Build the optimizer when the network is complete, or add the new parameters (`add_param_group`)."
        if event.built is not None:
            cures = (FixProposal("move_after", "Build the optimizer afterwards", (event.built, event.value)),)
    else:
        thing = "a tensor, but no `nn.Parameter`" if event.why == "plain" else f"a plain {kind_of(event.wrapper)}"
        what = f"{kept} is {thing}, so `parameters()` misses {'it' if event.why == 'plain' else 'what is in it'}"
        advice = f"Use `nn.{event.wrapper}`." if event.wrapper else UNREGISTERED
        if event.wrapper is not None:
            cures = (FixProposal(WRAPPERS[event.wrapper], f"Make it an `nn.{event.wrapper}`", (event.value,)),)
    message = headline(
        *([f"{what}: {names} {verb(names)} never trained"] if names != kept else []),
        f"{what}: it is never trained",
        what,
    )
    given = f"{capitalized(held)} is given the parameters of the network here"
    links = (
        [TraceStep(event.built, given, short="the optimizer is given its parameters")]
        if event.built is not None
        else []
    )
    links.append(
        TraceStep(
            event.point.node,
            f"{code(event.point.node)} does not update {names}",
            event.point,
            short=f"does not update {names}",
        )
    )
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
    message = headline(
        f"The optimizer is given nothing: {kept} is a plain {kind_of(event.wrapper)}, which `parameters()` skips",
        f"The optimizer is given nothing: {kept} is a plain {kind_of(event.wrapper)}",
    )
    cures: tuple[FixProposal, ...] = ()
    if event.wrapper is not None:
        cures = (FixProposal(WRAPPERS[event.wrapper], f"Make it an `nn.{event.wrapper}`", (event.value,)),)
    advice = f"Use `nn.{event.wrapper}`." if event.wrapper else UNREGISTERED
    links = (
        TraceStep(
            event.attribute,
            "This is kept where `parameters()` does not look",
            short="kept where `parameters()` does not look",
        ),
    )
    return Finding(
        point=event.point,
        severity=Severity.ERROR,
        message=message,
        raises=error,
        links=links,
        help=advice,
        cures=cures,
    )


def kind_of(wrapper: str | None) -> str:
    return "dict" if wrapper is not None and wrapper.endswith("Dict") else "list"


def dropped(event: UpdateDropped, facts: Facts) -> Finding:
    """``p = p - lr * p.grad`` for the variable of a loop."""
    statement = event.point.node
    leaf = tensor_name(facts, event.leaf) or "The parameter"
    message = headline(
        f"{leaf} is not updated: this only gives the name `{event.name}` to a new tensor",
        f"{leaf} is not updated: this only gives a name to a new tensor",
    )
    cures: tuple[FixProposal, ...] = ()
    if isinstance(statement, ast.Assign):
        cures = (FixProposal("inplace_update", "Update it in place, without gradients", (statement.value,)),)
    advice = f"Write into the tensor: `{event.name} -= ...` under `torch.no_grad()`."
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=message,
        help=advice,
        cures=cures,
    )
