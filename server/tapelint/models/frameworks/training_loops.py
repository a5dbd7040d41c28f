"""Frameworks that train in the program's place: who calls backward, and how often. Data, in one place.

class Net(LightningModule):
    def training_step(self, batch, index):      # called once per batch; Lightning walks the loss it returns,
        return self.net(batch).pow(2).mean()    # unless self.automatic_optimization is False

model = accelerator.prepare(model)              # the same model, for what autograd sees
accelerator.backward(loss)                      # loss.backward()
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ...domain.mro import is_module, mro_of
from ...domain.state import State
from ...domain.values import FALSE, BuiltinMethod, Class, External, Frame, HeapRef, Instance, Mapping, Tuple, Value
from ...engine.machine import Machine
from ...frozen import frozen
from ...stubs import stub_module_name
from ..torch.nn import frozen_parts
from ..torch.registry import MODULE_METHODS, Call, MethodModel, method

_LIGHTNING = r"(?:pytorch_lightning|lightning)\.(?:\w+\.)*"


@frozen
class Walk:
    """``framework`` calls ``method`` of classes derived from ``base`` over and over and walks what it returns, each
    time once, with the gradients cleared in between. Not where an attribute ``manual`` is False, nor where the class
    has a method ``instead``. Then what the method ``optimizers`` has given steps.

    The methods ``before`` are called once, those ``ahead`` before each batch and those ``behind`` after it. ``fed``
    says that what ``method`` is given is data: a batch from a loader.
    """

    framework: str
    base: re.Pattern[str]
    method: str
    manual: str | None = None
    instead: tuple[str, ...] = ()
    optimizers: str | None = None
    before: tuple[str, ...] = ()
    ahead: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    fed: bool = False

    @property
    def premise(self) -> str:
        return f"{self.framework} calls `{self.method}` once per batch and walks the graph of the loss it returns"


WALKS = (
    Walk(
        "Lightning",
        re.compile(rf"{_LIGHTNING}LightningModule"),
        "training_step",
        "automatic_optimization",
        ("backward", "optimizer_step"),
        "configure_optimizers",
        ("configure_model", "setup", "on_fit_start", "on_train_start", "on_train_epoch_start"),
        ("on_train_batch_start",),
        ("on_train_batch_end",),
        True,
    ),
    Walk(
        "the Trainer of transformers",
        re.compile(r"(?:transformers|trl|sentence_transformers)\.(?:\w+\.)*\w*Trainer"),
        "compute_loss",
        instead=("training_step",),
    ),
)


@frozen
class Unrecorded:
    """``framework`` calls these ``methods`` of classes derived from ``base`` while no graph is recorded; those that are
    ``fed`` are given a batch from a loader.
    """

    framework: str
    base: re.Pattern[str]
    methods: re.Pattern[str]
    fed: re.Pattern[str]

    def premise(self, method: str) -> str:
        return f"{self.framework} calls `{method}` under `torch.no_grad()`"


UNRECORDED = (
    Unrecorded(
        "Lightning",
        re.compile(rf"{_LIGHTNING}(?:LightningModule|Callback)"),
        re.compile(r"(?:validation|test|predict)_step|on_(?:validation|test|predict)_\w+"),
        re.compile(r"\w+_step"),
    ),
)


@frozen
class Loop:
    """``framework`` is a stub, in which ``method`` of the class ``base`` trains. Classes derived from
    that override some of the methods that it calls on its way, one of ``steps`` at least; its ``networks`` may be any.
    """

    framework: str
    base: str
    method: str
    steps: tuple[str, ...]
    networks: tuple[str, ...]

    @property
    def premise(self) -> str:
        return f"`{self.method}` of {self.framework} runs it for each batch"


LOOPS = (
    Loop(
        "the Trainer of transformers",
        "transformers.trainer.Trainer",
        "train",
        ("compute_loss", "training_step", "compute_loss_context_manager"),
        ("model",),
    ),
    Loop(
        "skorch",
        "skorch.net.NeuralNet",
        "fit",
        ("get_loss", "train_step_single", "train_step", "infer", "on_grad_computed", "on_batch_end"),
        ("module", "criterion"),
    ),
)

WALKED = frozenset(walk.method for walk in WALKS) | {step for loop in LOOPS for step in loop.steps}

MANUAL = (re.compile(rf"{_LIGHTNING}LightningModule"), "manual_backward")
"""The classes that have a method of this name, which walks the graph of what it is given."""

FABRIC = ("lightning.Fabric", "lightning.fabric.Fabric", "lightning_fabric.Fabric", "lightning_fabric.fabric.Fabric")
ACCELERATE = ("accelerate.Accelerator", "accelerate.accelerator.Accelerator")

LAUNCHERS = {
    **dict.fromkeys(FABRIC, ("setup", "setup_module", "setup_optimizers", "setup_dataloaders")),
    **dict.fromkeys(
        ACCELERATE,
        (
            "prepare",
            "prepare_model",
            "prepare_optimizer",
            "prepare_data_loader",
            "prepare_scheduler",
        ),
    ),
}
"""Classes whose objects have ``backward(loss)``, and their methods that return what they are given."""


@frozen
class Prepared:
    """Of classes derived from ``base`` these methods are called on every object before any other."""

    base: re.Pattern[str]
    methods: tuple[str, ...]


TEST_CASE = re.compile(
    r"unittest\.(?:case\.|async_case\.)?(?:IsolatedAsyncio)?TestCase"
    r"|torch\.testing\._internal\.common_utils\.TestCase|absl\.testing\.(?:absltest|parameterized)\.TestCase"
)
"""The classes whose methods unittest runs, each on an object of its own."""

PREPARED = (
    Prepared(TEST_CASE, ("setUpClass", "setUp")),
    Prepared(re.compile(r"ray\.tune\.(?:\w+\.)*Trainable"), ("setup",)),
    Prepared(re.compile(r"cog\.(?:\w+\.)*BasePredictor"), ("setup",)),
)


def prepared(state: State, owner: Value) -> Prepared | None:
    """How a framework makes an object of a class ready, if one is known to."""
    return next((entry for entry in PREPARED if derives(state, owner, entry.base)), None)


def derives(state: State, owner: Value, base: re.Pattern[str]) -> bool:
    """Whether a class comes from a framework's."""
    return any(isinstance(kind, External) and base.fullmatch(kind.name) for kind in mro_of(state, owner))


def walk_of(state: State, owner: HeapRef, instance: HeapRef, method: str) -> Walk | None:
    """Who walks what ``method`` of an object returns; None where none is known to."""
    thing = state.heap[instance.id]
    attributes = thing.attributes if isinstance(thing, (Instance, Class)) else {}
    for walk in WALKS:
        if walk.method == method and derives(state, owner, walk.base):
            own = {name for kind in mro_of(state, owner) if isinstance(kind, HeapRef) for name in _names(state, kind)}
            by_hand = walk.manual is not None and attributes.get(walk.manual) == FALSE
            return None if by_hand or own.intersection(walk.instead) else walk
    return None


def unrecorded(state: State, owner: HeapRef, method: str) -> Unrecorded | None:
    """Who calls ``method`` of objects of a class while no graph is recorded; None where none is known to."""
    return next((u for u in UNRECORDED if u.methods.fullmatch(method) and derives(state, owner, u.base)), None)


def loop_of(machine: Machine, state: State, owner: HeapRef, method: str) -> Loop | None:
    """Whose loop calls ``method`` of objects of a class; None where none is known to."""
    kinds = [state.get(kind.id, Class) for kind in mro_of(state, owner) if isinstance(kind, HeapRef)]
    names = {f"{library}.{kind.name}" for kind in kinds if (library := _library(machine, state, kind)) is not None}
    return next((loop for loop in LOOPS if loop.base in names and method in loop.steps), None)


def walked_results(machine: Machine, state: State, owner: HeapRef) -> set[str]:
    """The methods of a class whose results are walked by others: ``forward`` of a module by those who train it, the
    steps of a framework by the framework.
    """
    found = {walk.method for walk in WALKS if derives(state, owner, walk.base)}
    for name in WALKED - found:
        if loop_of(machine, state, owner, name) is not None:
            found.add(name)
    return found | {"forward"} if is_module(state, owner) else found


def _library(machine: Machine, state: State, kind: Class) -> str | None:
    """The stub module that a class is of."""
    module = machine.imports.of_scope(state.get(kind.scope, Frame).module) if machine.imports is not None else None
    return stub_module_name(module.path) if module is not None else None


def _names(state: State, kind: HeapRef) -> set[str]:
    return set(state.get(kind.id, Class).attributes)


def loss_in(state: State, result: Value) -> Value:
    """The loss among what such a method returns: it alone, the entry ``loss`` of a dict, the first of a tuple."""
    if isinstance(result, Tuple) and result.items:
        return result.items[0]
    if isinstance(result, HeapRef) and isinstance(thing := state.heap[result.id], Mapping):
        return thing.items.get("loss", result)
    return result


def is_framework_object(state: State, value: HeapRef, base: re.Pattern[str]) -> bool:
    """Whether an object of the program is of a class that comes from a framework's."""
    thing = state.heap[value.id]
    return isinstance(thing, Instance) and derives(state, thing.kind, base)


ObjectModel = MethodModel[HeapRef]


def method_of(is_one: Callable[[State, HeapRef], bool], *names: str) -> Callable[[ObjectModel], ObjectModel]:
    """Register a model of methods that only some objects have from a framework; of others they are not known."""

    def register(model: ObjectModel) -> ObjectModel:
        @method(MODULE_METHODS, *names)
        def asked(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
            if is_one(state, receiver):
                return model(machine, state, receiver, call)
            if isinstance(thing := state.heap[receiver.id], Instance):
                frozen_parts.note_access(machine, thing)  # it may unfreeze what the object has
            return machine.call_unknown(state, call.args, call.kwargs, call.node, BuiltinMethod(receiver, call.name))

        return model

    return register
