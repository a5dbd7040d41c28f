"""Dictionaries whose items are attributes too: ``EasyDict``, ``Munch``, ``addict.Dict``, OmegaConf, ``ConfigDict``.

cfg = EasyDict({"train": {"amp": False}})
cfg.train.amp        False, as cfg["train"]["amp"] is
"""

from __future__ import annotations

from ...domain.state import State
from ...domain.values import NONE, HeapRef, Mapping, Sequence, Value
from ...engine.machine import Machine
from ..torch.registry import Call, function


@function(
    "addict.Dict",
    "addict.addict.Dict",
    "box.Box",
    "easydict.EasyDict",
    "ml_collections.ConfigDict",
    "ml_collections.config_dict.ConfigDict",
    "munch.DefaultMunch",
    "munch.Munch",
    "munch.Munch.fromDict",
    "munch.munchify",
    "omegaconf.DictConfig",
    "omegaconf.OmegaConf.create",
)
def config(machine: Machine, state: State, call: Call) -> Value:
    """An object with the items of the dictionaries and the keywords that it is given."""
    given = call.args[-1] if call.args else NONE
    whole = _converted(state, given)
    if not isinstance(whole, HeapRef) or not isinstance(state.heap[whole.id], Mapping):
        if call.args and given != NONE:
            return machine.call_unknown(state, call.args, call.kwargs, call.node, given)
        whole = HeapRef(state.new(Mapping({}, kind="config")))
    items = {name: _converted(state, value) for name, value in call.kwargs.items()}
    state.edit(whole.id, Mapping).items.update(items)
    return whole


def _converted(state: State, value: Value, depth: int = 8) -> Value:
    """A dictionary as such an object, with those in it, so many deep; any other value as it is."""
    if not isinstance(value, HeapRef) or not depth:
        return value
    thing = state.heap[value.id]
    if isinstance(thing, Mapping) and thing.kind == "dict":
        items = {key: _converted(state, item, depth - 1) for key, item in thing.items.items()}
        return HeapRef(state.new(Mapping(items, thing.is_partial, "config", thing.default)))
    if isinstance(thing, Sequence) and thing.kind == "list":
        values = [_converted(state, item, depth - 1) for item in thing.items]
        return HeapRef(state.new(Sequence("list", values, thing.is_partial)))
    return value
