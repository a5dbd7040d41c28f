"""The mechanisms of the engine by name, and how each is switched off: what its functions answer then.

A function is replaced wherever a module of tapelint has it under some name, for this tool alone. What its answer stands
for is "there is nothing of the kind here": no finding may appear that rests on it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

PACKAGE = "tapelint"


def nothing(*_: Any, **__: Any) -> None:
    """The answer of a function that only does something, or that finds something or None."""


def _false(*_: Any, **__: Any) -> bool:
    return False


def _empty(*_: Any, **__: Any) -> tuple[Any, ...]:
    return ()


def _argument(place: int) -> Callable[..., Any]:
    """The answer is what was given: the argument at this place."""
    return lambda *given, **_: given[place]


def _names(*_: Any, **__: Any) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Mechanism:
    """What can be switched off: the modules that it consists of, and the answers of their functions without it."""

    name: str
    modules: tuple[str, ...]
    answers: Mapping[str, Callable[..., Any]]
    models: bool = False
    """Whether the modules register models of a library: without them its calls are unknown."""


def _one(module: str, **answers: Callable[..., Any]) -> Mechanism:
    """A mechanism that one module is."""
    return Mechanism(
        module.rpartition(".")[2], (module,), {f"{module}:{name}": answer for name, answer in answers.items()}
    )


def _models(name: str, *modules: str) -> Mechanism:
    return Mechanism(name, modules, {}, models=True)


MECHANISMS: tuple[Mechanism, ...] = (
    # objects, and what callers are imagined to give
    _one("drivers.caller", _run_left_behind=nothing),
    _one("drivers.candidates", inherited_methods=_empty),
    Mechanism("used by optimizers", (), {"drivers.quiet_uses:serves_optimizers": _false}),
    _one("drivers.object_state", prepare=nothing),
    _one("drivers.quiet_uses", is_unrecorded=_false, is_unrecorded_in=_false),
    _one("drivers.parameter_uses", uses_of=_names),
    Mechanism(
        "imagined callers",
        ("drivers.latent",),
        {"drivers.candidates:is_worth_imagining": _false, "drivers.imagined_calls:functions_of": _empty},
    ),
    # what a path supposes
    _one("engine.paths.open_options", fill_open=nothing),
    _one("engine.paths.own_stores", is_settled=_false),
    _one("engine.paths.switches", switched=_argument(5)),
    _one("engine.paths.picks", picked=nothing),
    Mechanism("code_picked", (), {"engine.paths.picks:code_picked": nothing}),
    _one("engine.loops.conditional_fill", leave=nothing, cut=nothing),
    _one("engine.loops.thresholds", assume_reached=nothing, assume_started=nothing),
    _one("semantics.picked_items", at_unknown_index=_argument(3), at_known_index=_argument(3), stored=nothing),
    _one("semantics.handed_closures", run_handed=nothing),
    _one("semantics.call_shares", share_of=nothing),
    _one("semantics.networks_by_use", variable=_argument(3), attribute=_argument(4), is_walked=_false),
    _one("semantics.installed_calls", installed_code=nothing, installed_base=_argument(2)),
    # what Python refuses
    _one("semantics.refused.doubted_attributes", find_out=nothing),
    _one("semantics.refused.absent_attributes", refuse_attribute=nothing),
    _one(
        "semantics.refused.refusals",
        refuse_iteration=nothing,
        refuse_unpacking=nothing,
        refuse_item=nothing,
        refuse_call=nothing,
    ),
    Mechanism(
        "signatures",
        ("semantics.refused.signatures", "semantics.refused.spelled"),
        {"semantics.refused.signatures:refuse_arguments": nothing},
    ),
    # what unknown objects are taken for
    _one(
        "models.torch.optim.handed_optimizers",
        write_networks=nothing,
        note_cleared=nothing,
        assumed_parameters=_empty,
        unknown_may_hold=nothing,
    ),
    Mechanism("losses of arguments", (), {"models.torch.autograd.backward_calls:_may_reach_argument": nothing}),
    _one("models.torch.autograd.walked_unknowns", had_graph=nothing, take_for_tensor=nothing),
    # how findings are put together
    # libraries
    _models("launchers", "models.frameworks.launchers"),
    _models("unittest", "models.frameworks.unit_tests"),
    _models("einops", "models.torch.einops"),
    _models("parametrizations", "models.torch.nn.parametrizations"),
)


def import_all() -> None:
    """Load every module of the package that a check may load."""
    for name in ("interpreter", "analysis", "cli.check", "cli.file_analysis", "cli.file_findings", "drivers.entry"):
        import_module(f"{PACKAGE}.{name}")


def switch_off(mechanism: Mechanism) -> None:
    """Switch a mechanism off in this process, which is good for nothing else from then on."""
    loaded = [module for name, module in sys.modules.items() if name.partition(".")[0] == PACKAGE]
    for place, answer in mechanism.answers.items():
        module, _, name = place.partition(":")
        function = getattr(import_module(f"{PACKAGE}.{module}"), name)
        if not _replace(loaded, function, answer):
            raise LookupError(f"{place} is used nowhere")
    if mechanism.models:
        homes = {f"{PACKAGE}.{module}" for module in mechanism.modules}
        for table in _tables(loaded):
            for key in [key for key, value in table.items() if _home(value) in homes]:
                del table[key]


def _replace(loaded: list[ModuleType], function: Any, answer: Callable[..., Any]) -> int:
    """Replace what every module has of a function; the number of the places."""
    count = 0
    for module in loaded:
        for name in [name for name, value in vars(module).items() if value is function]:
            setattr(module, name, answer)
            count += 1
    return count


def _tables(loaded: list[ModuleType]) -> list[MutableMapping[Any, Any]]:
    """The tables of models: what is called by a dotted name, or a method of a name."""
    found = {id(value): value for module in loaded for value in vars(module).values() if isinstance(value, dict)}
    return [*found.values()]


def _home(value: Any) -> str:
    while isinstance(value, partial):
        value = value.func
    return getattr(value, "__module__", None) or ""
