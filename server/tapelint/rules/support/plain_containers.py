"""What the rules about plain containers share: ``parameters()`` does not look into lists and dicts."""

from __future__ import annotations

import ast

from .cure import FixProposal

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


def kind_of(wrapper: str | None) -> str:
    """What a container is that ``wrapper`` would take the place of."""
    return "dict" if wrapper is not None and wrapper.endswith("Dict") else "list"


def advice(wrapper: str | None) -> str:
    """What to do."""
    return f"Use `nn.{wrapper}`." if wrapper else UNREGISTERED


def cures(wrapper: str | None, value: ast.AST) -> tuple[FixProposal, ...]:
    """The fix of what is assigned, if ``wrapper`` of ``torch.nn`` would register it."""
    return (FixProposal(WRAPPERS[wrapper], f"Make it an `nn.{wrapper}`", (value,)),) if wrapper else ()
