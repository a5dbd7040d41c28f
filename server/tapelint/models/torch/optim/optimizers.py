"""Optimizers: ``step`` writes the parameters that have gradients, ``zero_grad`` clears them.

Of an optimizer that the program derives from ``torch.optim.Optimizer`` ``step`` is its own; what it holds is known:

    class SAM(torch.optim.Optimizer):
        def __init__(self, params, rho):
            super().__init__(params, {"rho": rho})          # param_groups, state and zero_grad() come from here

        @torch.no_grad()
        def ascend(self):
            for group in self.param_groups:
                for p in group["params"]:
                    p.add_(p.grad, alpha=group["rho"])      # a write to a parameter, like any other
"""

from __future__ import annotations

import ast
from contextlib import nullcontext

from ....autograd import (
    TorchRaises,
    bump,
    check_inference_write,
    leaf,
    record_untracked_write,
)
from ....autograd.events.broken_graph import InferenceTensorUsed
from ....autograd.gradients import history
from ....autograd.gradients.withheld import Fates
from ....because import Because, guess
from ....domain import facets
from ....domain.completion import ProgramRaised
from ....domain.state import State
from ....domain.values import (
    FALSE,
    NONE,
    BoundMethod,
    Const,
    External,
    Function,
    HeapRef,
    Instance,
    Mapping,
    Optimizer,
    Sequence,
    TensorRef,
    Unknown,
    Value,
)
from ....engine import open_objects
from ....engine.lifecycle import UnknownStepped
from ....engine.machine import Machine
from ....engine.syntax.syntactic_summary import syntactic_summary
from ....ops.torch_attributes import optimizers
from ....source import written
from ..autograd.grad_calls import clear_grads
from ..autograd.grad_use import use_grads, written_optimizer
from ..registry import FUNCTIONS, OPTIMIZER_METHODS, Call, answers, function, method
from .handed_optimizers import assumed_parameters, note_cleared, order_only, stand_in, write_networks
from .optimized_parameters import (
    collected,
    is_groups,
    is_moved,
    may_hold_more,
    parameters_in,
    refuse_computed,
    refuse_empty,
    refuse_hidden,
)
from .own_optimizers import held_by

GROUPS = "param_groups"
STATELESS = frozenset(("SGD", "Adagrad", "LBFGS", "SparseAdam"))
"""Those whose first step makes no tensor that a later one writes: without momentum, or because it was there before."""


def make(machine: Machine, state: State, call: Call) -> Value:
    """``optim.SGD(params, ...)``: parameters, or groups of them."""
    given = call.get(0, "params")
    fused = call.kwargs.get("fused", Const(False)) != Const(False)
    if isinstance(given, HeapRef) and isinstance(group := state.heap[given.id], Mapping):
        given = group.items.get("params", Unknown("params"))
    listed = collected(machine, state, given, call)
    found = list(dict.fromkeys(parameters_in(state, listed)))
    if not found:
        refuse_hidden(machine, state, given, call)
        refuse_empty(state, given)
    if call.kwargs.get("differentiable", FALSE) == FALSE:
        refuse_computed(machine, state, found, call)
    single = call.name.endswith("LBFGS") and call.get(2, "max_iter") == Const(1)
    held = [key for key in found if not is_moved(state, key)]
    is_assumed = any(state.tensors[key].assumption is not None for key in held if not state.tensors[key].parameter)
    more = not found or may_hold_more(machine, state, listed) or is_assumed or len(held) < len(found)
    name = call.name.rpartition(".")[2]
    made = HeapRef(state.new(Optimizer(name, held, more, fused, single, _is_stateful(name, call))))
    machine.created_by[made.id] = call.node
    open_objects.made(machine, state, made.id)
    _note_held(machine, state, made.id, held)
    _note_maker(machine, made, found, given)
    stand_in(machine, state, made, name, call.node)
    if is_groups(state, given):
        assert isinstance(given, HeapRef)
        machine.grouped[made.id] = given
    return made


def _note_held(machine: Machine, state: State, made: int, held: list[int]) -> None:
    """Note what an optimizer was made of, and what was frozen then."""
    training = machine.facts.training
    training.optimized.update(held)
    there = [state.tensors[key] for key in training.frozen_at if key in state.tensors]
    training.frozen_before[made] = frozenset(each.id for each in there if each.requires_grad is False)


def _note_maker(machine: Machine, made: HeapRef, found: list[int], given: Value) -> None:
    """Note the leaves that the unknown code had which returned what an optimizer was ``given``, if nothing else was
    ``found`` for it (``SGD(net.weights())``).
    """
    leaves = machine.facts.objects.holders.get(given.tensor_id) if isinstance(given, Unknown) else None
    if leaves and not found:
        machine.facts.networks.made_for[made.id] = leaves


def _is_stateful(name: str, call: Call) -> bool:
    """Whether the first step of an optimizer makes tensors that later ones write."""
    momentum = call.get(2, "momentum", Const(0)) if name == "SGD" else Const(0)
    return name not in STATELESS or momentum not in (Const(0), Const(0.0))


FUNCTIONS["torch.optim.Optimizer"] = make  # one that the program picks by its name (``ops.module_names.SOME``)
for _name in optimizers():
    FUNCTIONS["torch.optim." + _name] = make
    FUNCTIONS[f"torch.optim.{_name.lower()}.{_name}"] = make


@method(OPTIMIZER_METHODS, "step")
def step(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    closure, given = call.get(0, "closure"), machine.facts.networks.made_for.get(receiver.id)
    is_name = isinstance(closure, Const) and closure != NONE and is_taken_for_one(machine, receiver)
    if is_name:  # it is of the program, and has several, of which this one is to step
        call = Call(call.name, [], {}, call.node, call.key)
    if is_name or isinstance(closure, TensorRef | Unknown):  # a loss, from which it may go backward itself
        history.doubted(state, assumed_parameters(machine, state, receiver, True))
    elif given and closure == NONE and isinstance(call.node, ast.Call):
        machine.lifecycle.unknown_stepped.publish(machine, UnknownStepped(state, call.node, sorted(given)))
    if is_paused(state, receiver):
        return NONE
    is_guessed = closure != NONE and given is not None and not is_name
    with machine.facts.events.assuming(_calls_closure(call)) if is_guessed else nullcontext():
        return advance(machine, state, receiver, call)


def is_taken_for_one(machine: Machine, receiver: HeapRef) -> bool:
    """Whether only what is asked of it says that something is an optimizer."""
    networks = machine.facts.networks
    return receiver.id in networks.handed_optimizers or receiver.id in networks.made_for


def is_paused(state: State, receiver: HeapRef) -> bool:
    """Whether ``step`` and ``zero_grad`` do nothing, because a framework still accumulates gradients."""
    return state.get(receiver.id, Optimizer).is_paused


def advance(machine: Machine, state: State, receiver: HeapRef, call: Call, scaler: ast.expr | None = None) -> Value:
    """``step``, by the program or by the scaler of mixed precision."""
    optimizer = state.get(receiver.id, Optimizer)
    result: Value = NONE
    closure = call.get(0, "closure")
    if closure != NONE:
        mode = state.grad_mode
        iterations, run = state.iterations, machine.new_run()
        for number in range(2 if optimizer.searches and not optimizer.single else 1):
            if optimizer.searches:
                machine.begin_iteration(state, call.node, run, number + 1, len(iterations))
            state.grad_mode = True
            result = machine.call(state, closure, [], {}, call.node)
            state.grad_mode = mode
            if optimizer.searches:
                _update(machine, state, receiver, call, scaler)
            state.iterations = iterations
            if not optimizer.is_partial and not any(key in state.grads for key in optimizer.params):
                break  # without a gradient LBFGS has nothing to search for
        if optimizer.searches:
            return result
    if optimizer.stateful:
        _write_state(machine, state, receiver, call)
    _update(machine, state, receiver, call, scaler)
    write_networks(machine, state, receiver, call.node)
    return result


def _write_state(machine: Machine, state: State, receiver: HeapRef, call: Call) -> None:
    """What the first step makes for a parameter is written by later ones, inference tensor or not."""
    optimizer = state.get(receiver.id, Optimizer)
    stepped = [key for key in optimizer.params if key in state.grads]
    now = state.point(call.node)
    for key in stepped:
        if (made := optimizer.began.get(key)) is not None and not state.inference:
            machine.facts.events.publish(
                InferenceTensorUsed(point=now, tensor=key, how="state", op=f"{optimizer.name}.step", made=made)
            )
            raise ProgramRaised(
                "RuntimeError", "Inplace update to inference tensor outside InferenceMode", by_torch=True
            )
    if new := [key for key in stepped if key not in optimizer.began]:
        state.edit(receiver.id, Optimizer).began.update(dict.fromkeys(new, now if state.inference else None))


def _update(machine: Machine, state: State, receiver: HeapRef, call: Call, scaler: ast.expr | None) -> None:
    optimizer, written = state.get(receiver.id, Optimizer), written_optimizer(call.node, scaler is not None)
    held = assumed_parameters(machine, state, receiver, True) or optimizer.params
    others = order_only(machine, state, receiver, True, held)
    for keys in [each for each in (held, others) if each] or [[]]:
        use_grads(machine, state, keys, call.node, written, scaler, receiver.id)
    state.edit(receiver.id, Optimizer).stepped = state.point(call.node)
    write_parameters(machine, state, optimizer, call.node)
    if optimizer.is_partial:
        history.looked_at(state, None)  # it may hold any leaf
        machine.unit.notes.record(Fates).use(state, None)


def write_parameters(machine: Machine, state: State, optimizer: Optimizer, node: ast.AST) -> None:
    """Each parameter that has a gradient is written in place; by a fused optimizer where no version counts it."""
    machine.facts.training.stepped_with[state.point(node).call_site] = optimizer.params
    for key in optimizer.params:
        if key in state.grads and optimizer.fused:
            record_untracked_write(
                state, state.tensors[key].storage, f"{optimizer.name}.step", node, -1, by_optimizer=True
            )
        elif key in state.grads:
            try:
                check_inference_write(machine.facts, state, state.tensors[key], f"{optimizer.name}.step", node)
            except TorchRaises as refused:
                raise ProgramRaised("RuntimeError", str(refused), by_torch=True) from None
            bump(
                state, state.tensors[key].version_counter, f"{optimizer.name}.step", node, tensor=key, by_optimizer=True
            )


@method(OPTIMIZER_METHODS, "zero_grad")
def zero_grad(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    if is_paused(state, receiver):
        return NONE
    held = assumed_parameters(machine, state, receiver, False) or state.get(receiver.id, Optimizer).params
    others = order_only(machine, state, receiver, False, held)
    clear_grads(machine, state, [*held, *others], call)
    note_cleared(machine, state, receiver)
    return NONE


@method(OPTIMIZER_METHODS, "add_param_group")
def add_param_group(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    found = list(parameters_in(state, call.get(0, "param_group")))
    refuse_computed(machine, state, found, call)
    if receiver.id in machine.grouped:
        state.edit(machine.grouped[receiver.id].id, Sequence).items.append(call.get(0, "param_group"))
    optimizer = state.edit(receiver.id, Optimizer)
    machine.facts.training.optimized.update(found)
    optimizer.params += [key for key in found if key not in optimizer.params]
    optimizer.is_partial = optimizer.is_partial or may_hold_more(machine, state, call.get(0, "param_group"))
    return NONE


@method(OPTIMIZER_METHODS, "state_dict", "load_state_dict")
def state_dict(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    return Unknown("state_dict", False)


def param_groups(machine: Machine, state: State, owner: HeapRef, node: ast.AST) -> Value:
    """``optimizer.param_groups``: what it was given, or one group with all parameters, whose other entries are not
    known.
    """
    if owner.id in machine.grouped:
        return machine.grouped[owner.id]
    optimizer = state.get(owner.id, Optimizer)
    if optimizer.is_partial and not optimizer.params:
        return unknown_groups(state, machine.facts.networks.handed_optimizers.get(owner.id, "the optimizer"), node)
    return _one_group(state, optimizer.params, optimizer.is_partial)


def _one_group(state: State, held: list[int], is_partial: bool) -> HeapRef:
    params = HeapRef(state.new(Sequence("list", [TensorRef(key) for key in held], is_partial)))
    return HeapRef(state.new(Sequence("list", [HeapRef(state.new(Mapping({"params": params}, True)))])))


def unknown_groups(state: State, name: str, node: ast.AST) -> HeapRef:
    """``optimizer.param_groups`` of what is not known otherwise, but by this name of PyTorch's: one leaf that is taken
    to require grad stands for all that it holds.
    """
    held = leaf(state, node, True, parameter=True, assumption=f"{name}.{GROUPS}", is_guessed=True)
    return _one_group(state, [held], True)


answers(lambda: Unknown("scaler"), *(f"torch.amp.GradScaler.{name}" for name in ("get_scale", "state_dict")))


def unknown_step(machine: Machine, state: State, call: Call) -> Value | None:
    """``opt.step(closure)`` where it is not known what ``opt`` is: what takes a closure that goes backward is an
    optimizer. What the closure returns, which is called once; None where there is no such closure.
    """
    closure = call.get(0, "closure")
    own = closure.function if isinstance(closure, BoundMethod) else closure
    if not isinstance(own, Function) or not syntactic_summary(own.node).backward or len(call.args) > 1:
        return None
    mode, state.grad_mode = state.grad_mode, True
    with machine.facts.events.assuming(_calls_closure(call)):
        result = machine.call(state, closure, [], {}, call.node, call.key)
    state.grad_mode = mode
    return result


def _calls_closure(call: Call) -> Because:
    called = call.node.func if isinstance(call.node, ast.Call) else None
    name = f"`{written(called.value)}`" if isinstance(called, ast.Attribute) else "it"
    return guess(f"{name} is an optimizer, which calls the closure")


PACKAGE = "torch.optim.lr_scheduler"
SCHEDULERS = (
    "LambdaLR MultiplicativeLR StepLR MultiStepLR ConstantLR LinearLR ExponentialLR SequentialLR CosineAnnealingLR "
    "ChainedScheduler ReduceLROnPlateau CyclicLR CosineAnnealingWarmRestarts OneCycleLR PolynomialLR"
).split()
"""The classes of https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate."""
ASKED = "get_last_lr get_lr state_dict print_lr".split()
"""Methods of theirs that change nothing, those of ``LRScheduler``."""


def _made(machine: Machine, state: State, call: Call) -> Value:
    held = call.get(0, "optimizer")
    is_known = isinstance(held, HeapRef) and isinstance(state.heap[held.id], Optimizer)
    return HeapRef(state.new(Instance(External(call.name), {"optimizer": held} if is_known else {}, True)))


for _name in SCHEDULERS:
    FUNCTIONS[f"{PACKAGE}.{_name}"] = _made
    answers(lambda: NONE, *(f"{PACKAGE}.{_name}.{changes}" for changes in ("step", "load_state_dict")))
    answers(lambda: Unknown("lr", False), *(f"{PACKAGE}.{_name}.{asked}" for asked in ASKED))


BASES = ("torch.optim.Optimizer", "torch.optim.optimizer.Optimizer")


@function(*(f"{base}.__init__" for base in BASES))
def begin(machine: Machine, state: State, call: Call) -> Value:
    receiver = call.args[0]
    inner = Call(BASES[0], call.args[1:], call.kwargs, call.node, call.key)
    made = make(machine, state, inner)
    assert isinstance(made, HeapRef)
    held = state.get(made.id, Optimizer)
    if not isinstance(receiver, HeapRef) or not isinstance(state.heap[receiver.id], Instance):
        return NONE
    thing = state.edit(receiver.id, Instance)
    if not held.params:
        thing.is_partial = True
        return NONE
    defaults = inner.get(1, "defaults")
    groups = param_groups(machine, state, made, call.node)
    if isinstance(defaults, HeapRef) and isinstance(known := state.heap[defaults.id], Mapping):
        _fill(state, groups, known)
    thing.attributes |= {
        facets.OPTIMIZED: made,
        "param_groups": groups,
        "defaults": defaults,
        "state": HeapRef(state.new(Mapping({}, True))),
    }
    return NONE


def _fill(state: State, groups: Value, defaults: Mapping) -> None:
    """A group has what it was not given from the defaults."""
    assert isinstance(groups, HeapRef)
    listed = state.get(groups.id, Sequence)
    for group in listed.items:
        if isinstance(group, HeapRef) and isinstance(state.heap[group.id], Mapping):
            entries = state.edit(group.id, Mapping)
            entries.items = {**defaults.items, **entries.items}


@function(*(f"{base}.{name}" for base in BASES for name in ("zero_grad", "add_param_group", "state_dict")))
def inherited(machine: Machine, state: State, call: Call) -> Value:
    """``super().zero_grad()``."""
    held, name = held_by(state, call.args[0]), call.name.rpartition(".")[2]
    if held is None:
        return NONE
    return OPTIMIZER_METHODS[name](machine, state, held, Call(name, call.args[1:], call.kwargs, call.node, call.key))
