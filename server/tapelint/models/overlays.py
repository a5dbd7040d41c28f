"""Which models belong to a library that few programs use: they are loaded when a program first names something of it.

from einops import rearrange      External("einops.rearrange"): `models.torch.einops` is loaded
torch.relu(x)                     nothing is
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

OVERLAYS: Mapping[str, str] = {
    **dict.fromkeys(("addict", "box", "easydict", "ml_collections", "munch", "omegaconf"), "python.config_objects"),
    **dict.fromkeys(("argparse", "configargparse", "jsonargparse", "simple_parsing", "types"), "python.option_parsers"),
    "copy": "python.copying",
    "itertools": "python.iterators",
    "einops": "torch.einops",
    "functorch": "torch.func.transforms",
    "torch.distributions": "torch.distributions",
    "torch.func": "torch.func.transforms",
    "torch.func.functional_call": "torch.nn.functional_call",
    "torch.nn.utils.stateless": "torch.nn.functional_call",
    "torch.optim.swa_utils": "torch.nn.weight_averages",
    "torch.utils.checkpoint": "torch.autograd.checkpoint",
    "torch.vmap": "torch.func.transforms",
}
"""The module of ``models/`` by the package that it models. Such a module registers models of functions by their dotted
names, and nothing else: what an analysis knows does not depend on what was analysed before.
"""


def load_models(name: str) -> None:
    """Load the models of the packages that something with this dotted name is in."""
    home = ""
    for part in name.split("."):
        home = f"{home}.{part}" if home else part
        if home in OVERLAYS:
            import_module(f"{__package__}.{OVERLAYS[home]}")
