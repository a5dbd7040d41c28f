"""Which layers are a kind of which other one: what ``isinstance`` excludes must be what it excludes in PyTorch."""

from __future__ import annotations

import inspect

import pytest

from tapelint.domain.values import External
from tapelint.engine.paths.witnesses import kinds
from tapelint.ops.layers import LAZY, bare, base_of, is_there, layer, layer_names, switches

nn = pytest.importorskip("torch").nn
LAYERS = {
    name: kind
    for name, kind in vars(nn).items()
    if isinstance(kind, type) and issubclass(kind, nn.Module) and kind is not nn.Module
}


@pytest.mark.parametrize("name", sorted(name for name in LAYERS if kinds(External(f"torch.nn.{name}"))))
def test_a_layer_is_of_the_kinds_it_is_of_in_pytorch(name: str) -> None:
    (ours,) = kinds(External(f"torch.nn.{name}")) or ()
    public = set(LAYERS.values())
    bases = [base.__name__ for base in LAYERS[name].__mro__[1:] if base in public]
    assert [base.__name__ for base in ours.__mro__[1:] if base.__name__ in LAYERS] == bases


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_a_layer_is_derived_from_what_pytorch_derives_it_from(name: str) -> None:
    known, order = base_of(name), [base.__name__ for base in LAYERS[name].__mro__]
    mixed_in = {"LazyModuleMixin", "_LazyConvXdMixin", "_LazyNormBase"}
    assert known == next(base for base in order[1:] if base not in mixed_in)


def test_lazy_layers_become_what_they_become_in_pytorch() -> None:
    become = {name: kind.cls_to_become for name, kind in LAYERS.items() if hasattr(kind, "cls_to_become")}
    assert LAZY == {name: kind.__name__ for name, kind in become.items() if kind is not None}


CONDITIONAL = [
    (name, entry, switch)
    for name in sorted(layer_names())
    for entry in (*layer(name).params, *layer(name).buffers)
    for switch in (switches(entry) or [""] if "??" in entry or switches(entry) else ())
    if "." not in entry and "_l1" not in entry
]


@pytest.mark.parametrize(("name", "entry", "switch"), CONDITIONAL)
def test_what_a_layer_leaves_out_is_none(name: str, entry: str, switch: str) -> None:
    """But for recurrent layers, which have no such attribute then."""
    sizes = (2, 2) if base_of(name) == "RNNBase" else required_sizes(LAYERS[name])
    made = LAYERS[name](*sizes, **({switch: False} if switch else {}))
    assert not is_there(entry, {switch: False}.get)
    assert getattr(made, bare(entry), "absent") == ("absent" if base_of(name) == "RNNBase" else None)


def required_sizes(kind: type) -> list[int]:
    arguments = list(inspect.signature(kind.__init__).parameters.values())[1:]
    return [2 for each in arguments if each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD]
