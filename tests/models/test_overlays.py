"""Models of a library are loaded when a program names something of it. They register functions of that library alone,
so that what is known of a program does not depend on which programs were analysed before.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tapelint.models.torch.registry import OVERLAYS

PROBE = """
import json, sys
from tapelint import analysis
from tapelint.models.torch.registry import OVERLAYS, load_models
from tapelint.models.torch import registry

TABLES = [name for name in vars(registry) if name.endswith("_METHODS") or name in ("ATTRIBUTES", "DECORATORS")]
analysis.analyse("import torch\\nw = torch.ones(3, requires_grad=True)\\nw.exp().sum().backward()\\n", "program.py")
modules = {f"tapelint.models.{name}" for name in OVERLAYS.values()}
early = sorted(modules & sys.modules.keys())
sizes = {name: len(getattr(registry, name)) for name in TABLES}
added = {}
for package, module in OVERLAYS.items():
    before = set(registry.FUNCTIONS)
    load_models(package)
    added.setdefault(module, []).extend(registry.FUNCTIONS.keys() - before)
grown = [name for name in TABLES if len(getattr(registry, name)) != sizes[name]]
print(json.dumps({"early": early, "added": added, "grown": grown}))
"""


@pytest.fixture(scope="module")
def probed() -> dict[str, object]:
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, timeout=120, check=True)
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_a_program_that_uses_torch_alone_loads_no_models_of_other_libraries(probed: dict[str, object]) -> None:
    assert probed["early"] == []


def test_models_of_a_library_register_functions_alone(probed: dict[str, object]) -> None:
    assert probed["grown"] == []


def test_models_of_a_library_are_found_by_the_names_that_they_have(probed: dict[str, object]) -> None:
    """Whoever asks for a name has its models loaded: none is registered under another package."""
    added = probed["added"]
    assert isinstance(added, dict) and added
    for module, names in added.items():
        assert names, f"{module} registers nothing"
        homes = tuple(package for package, name in OVERLAYS.items() if name == module)
        lost = [name for name in names if not any(name == home or name.startswith(f"{home}.") for home in homes)]
        assert not lost, f"{module} registers {lost}, which no package of it leads to"
