"""Which layers are a kind of which other one: what ``isinstance`` excludes must be what it excludes in PyTorch."""

from __future__ import annotations

import pytest

from tapelint.domain.values import External
from tapelint.engine.paths.witnesses import kinds

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
