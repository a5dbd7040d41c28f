"""What `make rent` switches off is there: a mechanism that was renamed would be measured as worth nothing."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from tools.rent.mechanisms import MECHANISMS, PACKAGE, Mechanism

SERVER = Path(__file__).resolve().parents[2] / "server" / PACKAGE


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda each: each.name)
def test_every_mechanism_is_there(mechanism: Mechanism) -> None:
    for place in mechanism.answers:
        module, _, name = place.partition(":")
        assert callable(getattr(import_module(f"{PACKAGE}.{module}"), name)), place
    for module in mechanism.modules:
        assert (SERVER / f"{module.replace('.', '/')}.py").is_file(), module
