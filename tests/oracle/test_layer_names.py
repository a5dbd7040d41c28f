"""Which classes of ``torch.nn`` are layers, as their names say, against what PyTorch's classes are derived from."""

from __future__ import annotations

import inspect
import sys

import torch

from tapelint.ops.module_names import is_layer


def test_names_of_layers_are_those_of_modules() -> None:
    """Of the public classes that ``torch.nn`` and its parts define."""
    wrong = []
    for place, module in list(sys.modules.items()):
        if place == "torch.nn" or place.startswith("torch.nn."):
            for name, kind in vars(module).items():
                own = inspect.isclass(kind) and (kind.__module__ == place or place == "torch.nn")
                if (
                    own
                    and not name.startswith("_")
                    and issubclass(kind, torch.nn.Module) != is_layer(f"{place}.{name}")
                ):
                    wrong.append(f"{place}.{name}")
    assert sorted(wrong) == []
