"""A whole program: leaves and data, then random statements of every kind, then a backward."""

from __future__ import annotations

from . import (  # noqa: F401 (they register statements)
    backwards,
    blocks,
    containers,
    functions,
    language,
    networks,
    surroundings,
    tensors,
    transforms,
)
from .catalogue import SHAPES
from .expressions import FRESH, Made
from .writer import Writer

PREAMBLE = """\
import contextlib
import copy
import functools
import random
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
import torch.nn.functional as F
"""


def beginning(w: Writer) -> None:
    """Leaves, data, and perhaps a network with its optimizer."""
    rng = w.rng
    for _ in range(rng.randint(1, 3)):
        kind = rng.choice("VMMS")
        shape = ", ".join(map(str, SHAPES[kind])) or "()"
        text = rng.choice(
            (
                f"torch.rand({shape}, requires_grad=True)",
                f"torch.rand({shape}).requires_grad_()",
                f"nn.Parameter(torch.rand({shape}))",
            )
        )
        w.let(w.fresh("x"), Made(text, True, frozenset(), True), kind)
    for _ in range(rng.randint(0, 2)):
        kind = w.kind()
        w.let(w.fresh("d"), Made(FRESH[kind], False, frozenset()), kind)
    if rng.random() < 0.3:
        w.write(f"{(name := w.fresh('n'))} = {rng.randint(0, 3)}")
        w.scope.numbers.append(name)
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        rng.choice((networks.layer, networks.network))(w)
    if rng.random() < 0.5:
        networks.optimizer(w)


def program(seed: int | str) -> str:
    """The program of a seed; always the same one."""
    writer = Writer(seed)
    beginning(writer)
    while writer.left > 0:
        writer.statement()
    if writer.rng.random() < writer.daring:
        writer.scope.freed.clear()
    while not backwards.backward(writer):
        pass
    return PREAMBLE + "\n".join(writer.lines) + "\n"
