"""Hooks: functions of the program that PyTorch calls around a module, in a backward, or on what is saved.

    layer.register_forward_hook(f)          # f(layer, inputs, output) after every call; what it returns replaces output
    layer.register_full_backward_hook(f)    # also makes what goes in and what comes out views made in a custom Function
    y.register_hook(f)                      # f(gradient) when the backward reaches y
    with saved_tensors_hooks(pack, unpack)  # nodes keep what pack returns

A hook's body runs where PyTorch runs it, so what it writes or keeps, and a backward of its own, happen at that moment.
"""

from __future__ import annotations

import ast
from functools import partial

from ....autograd import (
    BackwardResult,
    Hook,
    Leaf,
    NodeVisit,
    ProgramPoint,
    Tensor,
    TorchRaises,
    leaf,
    materialize_view,
    retain,
)
from ....autograd.model.writes import check_read
from ....domain.completion import ProgramRaised
from ....domain.state import State, in_backward
from ....domain.values import (
    NONE,
    Const,
    External,
    HeapRef,
    Instance,
    SavedTensorHooks,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    something,
)
from ....engine.machine import Machine
from ....frozen import frozen
from ..nn.module_registry import members
from ..outputs import direct, edges_of, give_node, python_node
from ..registry import FUNCTIONS, MODULE_METHODS, TENSOR_METHODS, Call, answers, method

HANDLE = External("torch.utils.hooks.RemovableHandle")
FORWARD = {"register_forward_hook": "forward", "register_forward_pre_hook": "forward_pre"}
BACKWARD = {"register_full_backward_hook": "backward", "register_full_backward_pre_hook": "backward_pre"}


def registered(state: State, hook: Hook) -> Value:
    handle = state.new(Instance(HANDLE, {}))
    state.hooks[handle] = hook
    return HeapRef(handle)


def remove(machine: Machine, state: State, call: Call) -> Value:
    if call.args and isinstance(call.args[0], HeapRef):
        state.hooks.pop(call.args[0].id, None)
        state.changes += 1
    return NONE


FUNCTIONS[f"{HANDLE.name}.remove"] = remove


def looked_at(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Tensor:
    """The tensor as a hook finds it: PyTorch asks for its ``grad_fn``, which not every view can give."""
    try:
        check_read(machine.facts, state, receiver.id, call.node)
    except TorchRaises as refused:
        raise ProgramRaised("RuntimeError", str(refused), by_torch=True) from None
    return materialize_view(state, receiver.id)


@method(TENSOR_METHODS, "register_hook", "register_post_accumulate_grad_hook")
def register_hook(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    tensor = looked_at(machine, state, receiver, call)
    if tensor.requires_grad is False and not tensor.assumption:
        raise ProgramRaised(
            "RuntimeError", "cannot register a hook on a tensor that doesn't require gradient", by_torch=True
        )
    after = call.name != "register_hook"
    if after and tensor.grad_fn is not None and tensor.grad_fn.certain and not tensor.assumption:
        message = "post accumulate grad hooks cannot be registered on non-leaf tensors"
        raise ProgramRaised("RuntimeError", message, by_torch=True)
    if tensor.requires_grad is not True:
        return Unknown("handle")
    run = in_backward(partial(_on_gradient, machine, call.get(0, "hook"), call.node))
    return registered(
        state, Hook(tensor.grad_fn or Leaf(tensor.id), "accumulated" if after else "tensor", call.node, run)
    )


def _on_gradient(machine: Machine, hook: Value, made: ast.AST, state: State, tensor: int, node: ast.AST) -> None:
    result = machine.call(state, hook, [TensorRef(tensor)], {}, node)
    if isinstance(result, TensorRef) and is_clipping(created := state.tensors[result.id].created_at):
        machine.facts.training.clipping_hooks.setdefault(made, created)


CLIPPING = frozenset(("clamp", "clip"))


def is_clipping(point: ProgramPoint) -> bool:
    """Whether a tensor that was made there is another one, limited."""
    function = point.node.func if isinstance(point.node, ast.Call) else None
    return isinstance(function, ast.Attribute) and function.attr in CLIPPING


def retains(state: State, tensor: int) -> bool:
    """Whether ``retain_grad()`` was called on a tensor."""
    return any(hook.kind == "retain" and hook.target == tensor for hook in state.hooks.values())


@method(TENSOR_METHODS, "retain_grad")
def retain_grad(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    tensor = looked_at(machine, state, receiver, call)
    if tensor.requires_grad is False and not tensor.assumption:
        raise ProgramRaised("RuntimeError", "can't retain_grad on Tensor that has requires_grad=False", by_torch=True)
    if tensor.grad_fn is not None:
        registered(state, Hook(tensor.id, "retain", call.node, retain))
    return NONE


@method(MODULE_METHODS, *FORWARD, *BACKWARD)
def register_module_hook(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    kind = FORWARD.get(call.name) or BACKWARD[call.name]
    run = call.get(0, "hook")
    known = all(call.kwargs.get(name, NONE) in (NONE, Const(False)) for name in ("with_kwargs", "prepend"))
    hook = run if known else Unknown("hook")
    return registered(state, Hook(receiver, kind, call.node, partial(_on_module, machine, hook, receiver)))  # type: ignore[arg-type]


def _on_module(
    machine: Machine, hook: Value, module: Value, state: State, values: tuple[Value, ...], node: ast.AST
) -> Value:
    return machine.call(state, hook, [module, *values], {}, node)


@frozen
class ModuleHooks:
    """The hooks that wait for calls of one module."""

    module: HeapRef
    before: tuple[Hook, ...]
    after: tuple[Hook, ...]
    backward: tuple[Hook, ...]

    def around(self, machine: Machine, state: State, call: Call) -> Value:
        """A call of the module."""
        args = list(call.args)
        for hook in self.before:
            changed = hook.run(state, (Tuple(tuple(args)),), call.node)
            if changed != NONE:
                args = list(changed.items) if isinstance(changed, Tuple) else [changed]
        given: list[int] = []
        if self.backward and state.grad_mode is True:
            given = direct(Tuple(tuple(args)))
            passed = self._through(state, Tuple(tuple(args)), call, last=True)
            args = list(passed.items) if isinstance(passed, Tuple) else args
        result = machine.call_unhooked(state, self.module, args, call.kwargs, call.node, call.key)
        for hook in self.after:
            changed = hook.run(state, (Tuple(tuple(args)), result), call.node)
            result = result if changed == NONE else changed
        if self.backward and state.grad_mode is True:
            result = self._through(state, result, call, last=not edges_of(state, given))
        return result

    def _through(self, state: State, value: Value, call: Call, last: bool) -> Value:
        """``value`` as the hooks' own node returns it. ``last``: there is none further down, so the hooks run there."""
        keys = direct(value)
        if not edges_of(state, keys):
            return value
        method = self._run if last else None
        graph = python_node(state, "BackwardHookFunction", keys, call, method=method)
        return give_node(state, value, graph, "function" if len(keys) == 1 else "multi")

    def _run(self, state: State, turn: NodeVisit) -> BackwardResult:
        node = turn.node
        mode, state.grad_mode = state.grad_mode, False
        try:
            for hook in self.backward:
                gradients = [Tuple((TensorRef(leaf(state, node)),)) for _ in range(2)]
                hook.run(state, tuple(gradients if hook.kind == "backward" else gradients[:1]), node)
        finally:
            state.grad_mode = mode
        return BackwardResult(turn.item.inputs)


def module_hooks(state: State, module: HeapRef) -> ModuleHooks | None:
    found = [hook for hook in state.hooks.values() if hook.target == module]
    if not found:
        return None
    kinds = ({"forward_pre"}, {"forward"}, {"backward", "backward_pre"})
    return ModuleHooks(module, *(tuple(hook for hook in found if hook.kind in kind) for kind in kinds))


def run_hooks_below(state: State, network: HeapRef, node: ast.AST) -> None:
    """Run the hooks that wait for calls of what is in a network, which has run for all that is known: what they keep is
    of this call.
    """
    waiting = [hook for hook in state.hooks.values() if hook.kind in FORWARD.values()]
    below = {item for _, item in members(state, network)} if waiting else set()
    for hook in waiting:
        if hook.target in below:
            given = Tuple((something("input"),))
            hook.run(state, (given,) if hook.kind == "forward_pre" else (given, something("output")), node)


answers(
    SavedTensorHooks,
    *(f"torch.autograd.graph.{name}" for name in ("saved_tensors_hooks", "save_on_cpu")),
    "torch.autograd.graph.allow_mutation_on_saved_tensors",
)
