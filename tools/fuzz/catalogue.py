"""The ops a program may use: those of the table that PyTorch can run on small tensors, found by trying each.

Every value of a program has one of five types, which are shapes of float tensors: a scalar, vectors, matrices. A form
is an expression with holes, ``torch.atan2({0}, {1})``, with the types of its holes and of its value.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from functools import cache
from inspect import getfullargspec, isfunction
from itertools import product
from pathlib import Path

import torch
import torch.nn.functional as F

from tapelint.ops.table import candidates, names

SHAPES = {"S": (), "V": (4,), "M": (4, 4), "H": (2, 4), "W": (2,)}
TYPES = {shape: letter for letter, shape in SHAPES.items()}

KEPT = Path(__file__).resolve().parents[2] / ".cache" / "fuzz-forms.json"

COMMON = frozenset(
    "exp log tanh sigmoid relu sqrt abs neg cos sin square reciprocal clone pow mul add sub div matmul mm mv dot sum "
    "mean max min norm softmax log_softmax clamp where cumsum logsumexp prod var std maximum minimum t flatten "
    "nn.functional.relu nn.functional.gelu nn.functional.softplus nn.functional.leaky_relu nn.functional.silu "
    "nn.functional.elu nn.functional.mse_loss nn.functional.l1_loss nn.functional.smooth_l1_loss "
    "nn.functional.dropout nn.functional.softmax nn.functional.linear nn.functional.normalize".split()
)
"""Half of the ops of a program are among those that programs are made of."""


@dataclass(frozen=True, slots=True)
class Form:
    """``name`` is the row's; ``text`` has a hole for each of ``takes``; ``writes`` tells in-place ones."""

    name: str
    text: str
    takes: tuple[str, ...]
    gives: str
    writes: bool
    views: bool


def spelled(name: str) -> Iterator[str]:
    """How a program may call the op, before its arguments."""
    if name.startswith("nn.functional."):
        yield "F." + name[14:]
        return
    for prefix, module in (("linalg_", "linalg"), ("special_", "special")):
        if name.startswith(prefix):
            yield f"torch.{module}.{name[len(prefix) :]}"
            return
    if hasattr(torch.Tensor, name):
        yield "."
    if hasattr(torch, name):
        yield f"torch.{name}"
    if hasattr(F, name):
        yield f"F.{name}"


def call(spelling: str, name: str, arguments: list[str]) -> str:
    if spelling == ".":
        return f"{arguments[0]}.{name}({', '.join(arguments[1:])})"
    return f"{spelling}({', '.join(arguments)})"


SIZES = ("2, 4", "0, 1", "4, 4")
EXTRAS = ("", "0.5", "2", "0", "-1", "dim=0", "dim=-1", "0.1, 0.9", "keepdim=True", "inplace=True", *SIZES)


def probe(text: str, takes: tuple[str, ...]) -> str | None:
    """The type of the value, None where PyTorch will not have it, or not the backward of it."""
    torch.manual_seed(0)
    holes = [f"h{i}" for i in range(len(takes))]
    scope: dict[str, object] = {"torch": torch, "F": F}
    # Products of leaves, so that in-place forms may write them.
    scope |= {h: torch.rand(SHAPES[t], requires_grad=True) * 0.5 + 0.2 for h, t in zip(holes, takes)}
    try:
        value = eval(text.format(*holes), scope)
    except Exception:
        return None
    if type(value) is not torch.Tensor or value.dtype is not torch.float32 or not value.requires_grad:
        return None
    try:
        value.sum().backward()
    except Exception:
        return None  # no derivative, or an op that spoils what it saved itself
    return TYPES.get(tuple(value.shape))


def attempts(name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    counts = {sum(p.kind.rstrip("?") in ("tensor", "operand", "matrix") for p in op.params) for op in candidates(name)}
    for spelling in spelled(name):
        # What is given beside the tensor would land in ``inplace``, where nobody puts a number.
        function = getattr(F, spelling[2:], None)
        switched = isfunction(function) and spelling.startswith("F.") and "inplace" in getfullargspec(function).args
        for count in range(1, min(3, max(counts, default=0)) + 1):
            kinds = product("SVM", repeat=count) if count < 3 else [("V",) * 3, ("M",) * 3]
            extras = _extras(name, count, switched)
            holes = [f"{{{i}}}" for i in range(count)]
            for takes in kinds:
                for extra in extras:
                    yield call(spelling, name, holes + [extra] if extra else holes), tuple(takes)


def _extras(name: str, count: int, switched: bool) -> list[str]:
    """What is given beside ``count`` tensors; by keyword only where a position may be that of ``inplace``."""
    if switched and count > 1:
        return []
    takes_sizes = any(p.kind.rstrip("?") == "ints" for op in candidates(name) for p in op.params)
    return [
        extra
        for extra in (EXTRAS if count == 1 else EXTRAS[:1])
        if (takes_sizes or extra not in SIZES) and not (switched and extra and "=" not in extra)
    ]


@cache
def forms() -> tuple[Form, ...]:
    """Every form there is, in a stable order. Trying them takes most of a minute, so the answer is kept in a file."""
    known = sorted(names())
    stamp = hashlib.sha256(repr((torch.__version__, known, Path(__file__).read_text())).encode()).hexdigest()[:16]
    if KEPT.exists() and (kept := json.loads(KEPT.read_text())) and kept["stamp"] == stamp:
        return tuple(Form(name, text, tuple(takes), *rest) for name, text, takes, *rest in kept["forms"])
    found = tuple(_try_all(known))
    KEPT.parent.mkdir(exist_ok=True)
    KEPT.write_text(json.dumps({"stamp": stamp, "forms": [astuple(form) for form in found]}))
    return found


def _try_all(known: Iterable[str]) -> Iterator[Form]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in known:
            if name.startswith("_") or "." in name and not name.startswith("nn.functional."):
                continue
            rows = candidates(name)
            if not any(op.flows for op in rows):
                continue
            for text, takes in attempts(name):
                gives = probe(text, takes)
                if gives is not None:
                    writes = any(op.writes and op.writes[0] != "out" for op in rows) or "inplace=True" in text
                    yield Form(name, text, takes, gives, writes, any(op.view for op in rows))


@cache
def by_result() -> dict[tuple[str, bool, bool], dict[str, tuple[Form, ...]]]:
    """Forms by what they give, whether they write and whether they are common; then by name, so that an op with many
    forms is not taken more often."""
    table: dict[tuple[str, bool, bool], dict[str, list[Form]]] = defaultdict(lambda: defaultdict(list))
    for form in forms():
        common = form.name.removesuffix("_") in COMMON
        table[form.gives, form.writes, common][form.name].append(form)
    return {key: {name: tuple(fs) for name, fs in table[key].items()} for key in table}
