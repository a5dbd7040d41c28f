"""What the methods of a ``Function`` expect of its context and do not find there.

ctx.save_for_backward(x, 2.0)      # PyTorch refuses what is no tensor when forward has returned
return g * ctx.alpha               # no method of the Function sets it
x, w = ctx.saved_tensors           # forward saved one tensor
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....autograd import Facts
from ....autograd.events.custom_function import PlainValueSaved, SavedMiscounted, UnsetContextRead
from ....because import NOTHING, guess
from ....domain import facets
from ....domain.completion import ProgramRaised
from ....domain.induction import is_number, raw_value
from ....domain.mro import own_function
from ....domain.state import State
from ....domain.values import NONE, Const, Function, HeapRef, Instance, Mapping, Sequence, TensorRef, Tuple, Value
from ....engine.machine import Machine
from .context import function_name, noted
from .syntax import Definition, context_name, is_attribute


def refuse_plain_values(facts: Facts, state: State, definition: Definition, needs: bool | None, node: ast.AST) -> None:
    """Publish that forward saved what is no tensor, and raise if the results need a gradient for certain."""
    for index, value in enumerate(noted(state, definition.context, facets.SAVED)):
        type_name = _plain_type(state, value)
        place = _saving(definition.preparing, index)
        if type_name is None or place is None:
            continue
        facts.events.publish(
            PlainValueSaved(
                point=state.point(node),
                function=definition.name,
                place=place,
                index=index,
                type_name=type_name,
                holds_tensors=_holds_tensors(state, value),
                because=NOTHING if needs else guess(f"an argument of `{definition.name}` requires grad"),
            )
        )
        if needs:
            message = f"save_for_backward can only save variables, but argument {index} is of type {type_name}"
            raise ProgramRaised("TypeError", message, by_torch=True)
        return


def _plain_type(state: State, value: Value) -> str | None:
    """Python's name for the type of what is certainly no tensor and not None; `number` where it may be one of two."""
    match value:
        case Const():
            return None if value == NONE else type(raw_value(value)).__name__
        case Tuple():
            return "tuple"
        case HeapRef(id=key) if isinstance(thing := state.heap[key], Sequence) and thing.kind in ("list", "set"):
            return thing.kind
        case HeapRef(id=key) if isinstance(thing := state.heap[key], Mapping) and thing.kind == "dict":
            return thing.kind
    return "number" if is_number(value) else None


def _holds_tensors(state: State, value: Value) -> bool:
    """Whether a tuple or a list is one of tensors."""
    if isinstance(value, HeapRef) and isinstance(thing := state.heap[value.id], Sequence) and thing.kind == "list":
        value = Tuple(tuple(thing.items))
    return isinstance(value, Tuple) and bool(value.items) and all(isinstance(item, TensorRef) for item in value.items)


def _saving(method: Function, index: int) -> ast.Call | None:
    """The call of ``save_for_backward`` in a method, if there is one and it spells out its first arguments."""
    calls = list(_savings(method))
    known = len(calls) == 1 and not any(isinstance(given, ast.Starred) for given in calls[0].args[: index + 1])
    return calls[0] if known and len(calls[0].args) > index else None


def _savings(method: Function) -> Iterator[ast.Call]:
    """The calls of ``save_for_backward`` in a method."""
    context = context_name(method)
    for item in ast.walk(method.node):
        if isinstance(item, ast.Call) and is_attribute(item.func, context, "save_for_backward"):
            yield item


def refuse_unset(machine: Machine, state: State, context: HeapRef, attribute: str, node: ast.AST) -> None:
    """Publish that an attribute of a context is read that no method of its Function sets, and raise. Nothing happens
    where other code has seen the context, which may have set it.
    """
    if attribute in OF_EVERY_CONTEXT or attribute.startswith("__") or machine.facts.running.levels:
        return
    methods = _methods(state, context)
    reader = next((method for method in methods if any(item is node for item in ast.walk(method.node))), None)
    if reader is None or any(_hands_on(method) or _sets(method, attribute) for method in methods):
        return
    if any(isinstance(item, ast.Try) for item in ast.walk(reader.node)):
        return
    name = function_name(state, context)
    machine.facts.events.publish(
        UnsetContextRead(
            point=state.point(node), function=name, attribute=attribute, place=node, preparing=methods[0].node
        )
    )
    raise ProgramRaised("AttributeError", f"'{name}Backward' object has no attribute '{attribute}'", by_torch=True)


def check_unpacked(
    machine: Machine, state: State, value: Tuple, wanted: int, target: ast.AST, source: ast.AST | None
) -> None:
    """Publish that backward unpacks ``saved_tensors`` into another number of names than forward has saved, and raise.
    ``value`` is what is unpacked.
    """
    for key in machine.node_visits:
        context = HeapRef(key)
        kept = state.get(key, Instance).attributes.get(facets.SAVED, Tuple(()))
        asked = isinstance(source, ast.Attribute) and source.attr == "saved_tensors"
        if kept != value or not (value.items or asked):
            continue
        methods = _methods(state, context)
        if not methods or any(map(_hands_on, methods)):
            return
        calls = list(_savings(methods[0]))
        spelled = not any(isinstance(given, ast.Starred) for call in calls for given in call.args)
        if not spelled or any(len(call.args) == wanted for call in calls):
            return
        machine.facts.events.publish(
            SavedMiscounted(
                point=state.point(target),
                function=function_name(state, context),
                saved=len(value.items),
                wanted=wanted,
                place=target,
                saving=_in_turn(methods[0], calls),
            )
        )
        few = f"not enough values to unpack (expected {wanted}, got {len(value.items)})"
        many = f"too many values to unpack (expected {wanted})"
        raise ProgramRaised("ValueError", few if len(value.items) < wanted else many, by_torch=True)


def _in_turn(method: Function, calls: list[ast.Call]) -> tuple[ast.Call, ...]:
    """Those of the calls that run for certain, one after the other; none where it is not known which of them do."""
    body = method.node.body if isinstance(method.node, ast.FunctionDef) else []
    whole = [item.value for item in body if isinstance(item, ast.Expr)]
    return tuple(calls) if all(call in whole for call in calls) else ()


def _methods(state: State, context: HeapRef) -> list[Function]:
    """The methods of a Function that are given its context, the one before backward first."""
    kind = state.get(context.id, Instance).attributes.get(facets.FUNCTION)
    if kind is None:
        return []
    names = ("setup_context" if own_function(state, kind, "setup_context") else "forward", "backward", "vjp", "jvp")
    return [method for name in names if (method := own_function(state, kind, name)) is not None]


def _hands_on(method: Function) -> bool:
    """Whether a method does anything with its context but read and set its attributes."""
    context = context_name(method)
    owners = {
        id(item.value)
        for item in ast.walk(method.node)
        if isinstance(item, ast.Attribute) and not item.attr.startswith("__")
    }
    return any(
        isinstance(item, ast.Name) and item.id == context and id(item) not in owners for item in ast.walk(method.node)
    )


def _sets(method: Function, attribute: str) -> bool:
    context = context_name(method)
    return any(
        is_attribute(item, context, attribute) and isinstance(item.ctx, ast.Store) for item in ast.walk(method.node)
    )


OF_EVERY_CONTEXT = frozenset(
    (
        "_autograd_function_id _compiled_autograd_backward_state _compiled_autograd_key _dtype _forward_cls "
        "_fwd_used_autocast _get_compiled_autograd_symints _get_user_fn _input_metadata _is_pure_view "
        "_materialize_non_diff_grads _raw_saved_tensors _register_hook _register_hook_dict _sequence_nr "
        "_set_sequence_nr apply apply_boxed apply_jvp dirty_tensors mark_dirty mark_non_differentiable "
        "mark_shared_storage materialize_grads maybe_clear_saved_tensors metadata name needs_input_grad "
        "next_functions non_differentiable register_hook register_prehook requires_grad save_for_backward "
        "save_for_forward saved_for_forward saved_tensors saved_variables set_materialize_grads to_save"
    ).split()
)
"""What a context has before any method sets it: ``dir(ctx)`` in PyTorch 2.13, and what ``custom_fwd`` sets
(torch/amp/autocast_mode.py).
"""
