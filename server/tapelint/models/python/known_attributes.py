"""Which attributes a value has for certain, and which it lacks for certain.

class Step:
    def __init__(self): self.count = 0

Step().count        it has that
Step().total        it lacks that: AttributeError
handed_on.total     unknown, once code that is not read was given the object
"""

from __future__ import annotations

import ast

from ...domain import facets
from ...domain.mro import OBJECT, lookup_in_mro, mro_of
from ...domain.state import State
from ...domain.values import Class, Const, External, Function, HeapRef, Instance, Module, Tuple, Value
from ...engine.machine import Machine
from ...engine.open_objects import is_whole
from ...engine.syntax.bound_names import any_names, binds

MODULE = External("torch.nn.Module")
PLAIN_BASES = frozenset((OBJECT, MODULE, External("abc.ABC")))
"""Classes of libraries of which it is known what an object of a class derived from them has."""
PLAIN_FACETS = frozenset((facets.PARAMETER_NAMES, facets.BUFFER_NAMES))
"""What the engine keeps of an object although all of its attributes are known."""
COMPUTING = frozenset("__getattr__ __getattribute__ __setattr__ __slots__ __new__ __init_subclass__".split())
"""What a class defines whose objects may have more attributes than were set, or fewer."""

OF_MODULES = frozenset(
    (
        "_apply _backward_hooks _backward_pre_hooks _buffers _call_impl _compiled_call_impl _forward_hooks "
        "_forward_hooks_always_called _forward_hooks_with_kwargs _forward_pre_hooks "
        "_forward_pre_hooks_with_kwargs _get_backward_hooks _get_backward_pre_hooks _get_name "
        "_is_full_backward_hook _load_from_state_dict _load_state_dict_post_hooks _load_state_dict_pre_hooks "
        "_maybe_warn_non_full_backward_hook _modules _named_members _non_persistent_buffers_set _parameters "
        "_register_load_state_dict_pre_hook _register_state_dict_hook _replicate_for_data_parallel "
        "_save_to_state_dict _slow_forward _state_dict_hooks _state_dict_pre_hooks _version _wrapped_call_impl "
        "T_destination add_module apply bfloat16 buffers call_super_init children compile cpu cuda double "
        "dump_patches eval extra_repr float forward get_buffer get_extra_state get_parameter get_submodule half "
        "ipu load_state_dict modules mtia named_buffers named_children named_modules named_parameters parameters "
        "register_backward_hook register_buffer register_forward_hook register_forward_pre_hook "
        "register_full_backward_hook register_full_backward_pre_hook register_load_state_dict_post_hook "
        "register_load_state_dict_pre_hook register_module register_parameter register_state_dict_post_hook "
        "register_state_dict_pre_hook requires_grad_ set_extra_state set_submodule share_memory state_dict to "
        "to_empty train training type xpu zero_grad "
    ).split()
)
"""What ``dir(torch.nn.Module())`` lists, but for what every object has."""


def has(machine: Machine, state: State, value: Value, name: str) -> bool | None:
    """Whether ``value`` has the attribute ``name``; None where that is not known."""
    match value:
        case Const(plain):
            return hasattr(plain, name)
        case Tuple():
            return _tuple_has(value, name)
        case Function():
            return _function_has(machine, value, name)
        case Module():
            return False if machine.imports is not None and machine.imports.lacks(state, value, name) else None
        case HeapRef():
            thing = state.heap[value.id]
            return _object_has(machine, state, value, thing, name) if isinstance(thing, Instance) else None
        case _:
            return None


def _tuple_has(value: Tuple, name: str) -> bool | None:
    """A tuple that the program spells out has what Python says; any other may be of a class derived from it."""
    if name in value.names or hasattr(tuple, name):
        return True
    return None if value.names or not value.is_spelled or name == "numel" else False


def _function_has(machine: Machine, function: Function, name: str) -> bool | None:
    """A function has what its kind has, and what some code has given it: decorators may do that."""
    if hasattr(_function_has, name):
        return True
    plain = isinstance(function.node, ast.Lambda) or not function.node.decorator_list
    return False if plain and not function.kind and not _is_bound(machine, name) else None


def _object_has(machine: Machine, state: State, value: HeapRef, thing: Instance, name: str) -> bool | None:
    if name in thing.attributes:
        return True
    found = lookup_in_mro(state, thing.kind, name)
    if found is not None and (found[1] is not None or found[0] == MODULE and name in OF_MODULES):
        return True
    if hasattr(object, name):
        return True
    if name.startswith("__") or thing.is_partial or not _is_plain(machine, state, thing):
        return None
    return False if is_whole(machine, state, value.id) and _is_decided(machine, state, name) else None


def _is_decided(machine: Machine, state: State, name: str) -> bool:
    """Whether no other path may have bound an attribute of this name. One way through ``__init__`` was followed, and
    one through the body of the class: what may be bound on another is there for all that is known, unless no choice
    was made so far.
    """
    if machine.query(any_names, *_trees(machine)):
        return False
    return not (state.path_condition or machine.unit.stats.dropped) or not _is_bound(machine, name)


def _is_plain(machine: Machine, state: State, thing: Instance) -> bool:
    """Whether an object has the attributes that it was given, and those of its classes, and no others."""
    if any(facets.is_facet(each) and each not in PLAIN_FACETS for each in thing.attributes):
        return False
    for base in mro_of(state, thing.kind):
        kind = state.heap.get(base.id) if isinstance(base, HeapRef) else None
        if isinstance(kind, Class):
            computes = any(each in kind.attributes for each in COMPUTING) or kind.node.keywords
            decorated = len(kind.node.decorator_list) > kind.dataclass
            if computes or decorated or isinstance(base, HeapRef) and base.id in machine.facts.open_objects:
                return False
        elif base not in PLAIN_BASES:
            return False
    return isinstance(thing.kind, HeapRef)


def _is_bound(machine: Machine, name: str) -> bool:
    """Whether some code of the files that were read may bind an attribute of this name to something."""
    return machine.query(binds, name, *_trees(machine))


def _trees(machine: Machine) -> tuple[ast.AST, ...]:
    return machine.tree, *(module.source.tree for module in machine.unit.loads)
