"""The op table against the PyTorch it was made from: is it fresh, does it tell the truth, what does it leave out?"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))
OPS = REPOSITORY / "server" / "tapelint" / "ops"

generate = pytest.importorskip("tools.ops.generate", reason="needs torchgen and PyYAML")

from tools.ops import coverage, native, samples  # noqa: E402
from tools.ops.coverage import WITHOUT_ROW  # noqa: E402
from tools.ops.kinds import kind_of  # noqa: E402
from tools.ops.probe import tensors_of  # noqa: E402
from tools.ops.quiet import quiet  # noqa: E402

from tapelint import ops  # noqa: E402
from tapelint.ops.table import TABLE  # noqa: E402

Sample = tuple[tuple[Any, ...], dict[str, Any]]

# Not about tensors, called by a layer only, or for devices and data types that were not at hand.
NOT_OPS = frozenset(
    """assert_int_or_pair boolean_dispatch handle_torch_function has_torch_function has_torch_function_unary
    has_torch_function_variadic grouped_mm scaled_mm scaled_grouped_mm multi_head_attention_forward
    adaptive_max_pool2d_with_indices adaptive_max_pool3d_with_indices fractional_max_pool2d_with_indices
    fractional_max_pool3d_with_indices""".split()
)
# op_db calls a wrapper of its own, with other arguments than those of the function users call; that one has a row.
WRAPPED = frozenset({"pca_lowrank", "svd_lowrank", "polygamma", "special_polygamma"})


def recorded_version() -> str:
    return TABLE.read_text(encoding="utf-8").partition("from PyTorch ")[2].partition(";")[0]


same_pytorch = pytest.mark.skipif(
    torch.__version__.partition("+")[0] != recorded_version(), reason=f"the table is of PyTorch {recorded_version()}"
)


def fresh_attributes() -> str:
    """Asked of a new interpreter: ``torch.onnx`` is there once some test has imported it."""
    code = "import sys; from tools.ops import generate; sys.stdout.write(generate.attributes())"
    return subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, check=True, capture_output=True, text=True
    ).stdout


@same_pytorch
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("table.txt", generate.table),
        ("layers.txt", generate.layers),
        ("second.txt", generate.second),
        ("attributes.txt", fresh_attributes),
    ],
)
def test_the_table_is_fresh(name: str, make: Any) -> None:
    """Written again, it comes out the same, to the last byte."""
    recorded = (OPS / name).read_text(encoding="utf-8").splitlines()
    made = make().splitlines()
    assert [line for line in made if line not in set(recorded)] == []
    assert made == recorded


@cache
def opinfo_names() -> tuple[str, ...]:
    from torch.testing._internal.common_methods_invocations import op_db

    public = [info.name for info in op_db if not info.name.startswith(("_", "jiterator"))]
    return tuple(sorted({samples.row_name(name) for name in public}))


def calls(name: str, limit: int = 12) -> Iterator[Sample]:
    with quiet():
        yield from samples.for_row(name)[:limit]


def resolved(name: str, sample: Sample) -> ops.Op | None:
    spellings = (f"torch.{name}", f"torch.Tensor.{name}", f"torch.Tensor.{name}_")
    row = next((row for spelling in spellings if (row := ops.op_name(spelling)) is not None), name)
    positional, keywords = sample
    return ops.resolve(row, [kind_of(v) for v in positional], {key: kind_of(v) for key, v in keywords.items()})


def test_what_a_node_saves_is_what_its_row_says() -> None:
    """Every tensor kept by a node whose class has derivative formulas, looked up by its attributes ``_saved_...``."""
    checked, wrong = 0, []
    for name in opinfo_names():
        function = next(native.callables(name.removeprefix("nn.functional.")), None)
        if function is None:
            continue
        for sample in calls(name):
            op = resolved(name, sample)
            if op is None or op.source != "derivatives" or not op.grad_fn:
                continue
            for outcome in compared(op, function, sample):
                checked += 1
                wrong += [f"{op.name}/{op.overload}: {outcome}"] if outcome else []
    print(f"{checked} nodes compared, {len(wrong)} differ")
    assert wrong == []
    assert checked > 1000


def compared(op: ops.Op, function: Any, sample: Sample) -> Iterator[str]:
    """Runs the sample with all its inputs requiring a gradient, then with each alone; yields what differs, or ''."""
    bound = ops.bind(op, *sample)
    slots = ops.bind(op, range(len(sample[0])), {key: key for key in sample[1]})
    if bound is None or slots is None or not isinstance(next(iter(slots.values()), None), int):
        return
    floats = [name for name, ts in tensors_of(bound).items() if name in op.flows and all(is_float(t) for t in ts)]
    for needing in [floats, *([name] for name in floats)]:
        given = {name: fresh(value, name in needing) for name, value in bound.items()}
        positional = [given[name] for name, slot in slots.items() if isinstance(slot, int)]
        keywords = {slot: given[name] for name, slot in slots.items() if isinstance(slot, str)}
        try:
            with quiet():
                result = function(*positional, **keywords)
        except (RuntimeError, TypeError, ValueError, IndexError):
            continue
        outputs = [result] if isinstance(result, Tensor) else [out for out in result if isinstance(out, Tensor)]
        node = next((out.grad_fn for out in outputs if out.grad_fn is not None), None)
        if node is not None and node.name() == op.grad_fn and all(out.numel() for out in outputs):
            expected = predicted(op, set(needing), set(tensors_of(given)))
            found = kept(node, tensors_of(given), outputs)
            yield "" if found <= expected and expected - found <= {"~"} else f"{needing}: {found}, not {expected}"


def predicted(op: ops.Op, needing: set[str], given: set[str]) -> set[str]:
    saved = {s.what for s in op.saves if not s.gradient_of or s.gradient_of & needing}
    return {what for what in saved if what in given or what.startswith("result") or what == "~"}


def kept(node: Any, inputs: dict[str, list[Tensor]], outputs: list[Tensor]) -> set[str]:
    found = set()
    for attribute in dir(node):
        if attribute.startswith("_saved_") and not attribute.startswith("_saved_self_sizes"):
            value = getattr(node, attribute)
            for tensor in value if isinstance(value, tuple) else [value]:
                if isinstance(tensor, Tensor):
                    found.add(name_of(tensor, inputs, outputs))
    return found


def name_of(tensor: Tensor, inputs: dict[str, list[Tensor]], outputs: list[Tensor]) -> str:
    for name, candidates in inputs.items():
        if any(tensor is c or same_memory(tensor, c) for c in candidates):
            return name
    return next((f"result{i or ''}" for i, out in enumerate(outputs) if same_memory(tensor, out)), "~")


def same_memory(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and one.data_ptr() == other.data_ptr()


def is_float(tensor: Tensor) -> bool:
    return tensor.layout is torch.strided and (tensor.is_floating_point() or tensor.is_complex())


def fresh(value: Any, needs_grad: bool) -> Any:
    if isinstance(value, Tensor):
        copy = value.detach().clone()
        return copy.requires_grad_() if needs_grad else copy
    if type(value) in (list, tuple):
        return type(value)(fresh(item, needs_grad) for item in value)
    return value


def test_nearly_every_op_has_a_row() -> None:
    """A row for all samples of an op in ``op_db``, but for those listed above."""
    missing: list[str] = []
    names = [name for name in opinfo_names() if not name.startswith(tuple(WITHOUT_ROW)) and name not in WRAPPED]
    for name in names:
        known = list(calls(name))
        if known and all(resolved(name, sample) is None for sample in known):
            missing.append(name)
    print(f"{1 - len(missing) / len(names):.1%} of {len(names)} ops have rows; without: {missing}")
    assert missing == []


def test_every_layer_has_a_row() -> None:
    from tools.ops.layer_samples import NOT_LAYERS

    classes = {name for name, cls in vars(nn).items() if inspect.isclass(cls) and issubclass(cls, nn.Module)}
    missing = classes - NOT_LAYERS - ops.layer_names()
    # Normalises over several processes: it refuses to run in one.
    assert missing == {"SyncBatchNorm"}


def test_public_functions_have_rows() -> None:
    """Whatever users can spell out of torch.nn.functional, torch.linalg, torch.special and torch.fft."""
    for namespace in (torch.nn.functional, torch.linalg, torch.special, torch.fft):
        public = {name: getattr(namespace, name) for name in dir(namespace) if not name.startswith("_")}
        functions = [name for name, f in public.items() if inspect.isroutine(f) and name not in NOT_OPS]
        assert [name for name in functions if ops.op_name(f"{namespace.__name__}.{name}") is None] == []


def test_coverage_file_is_fresh() -> None:
    """At least 98 % of what users can call, namespace by namespace; what is left out is listed with its reason."""
    page = coverage.report()
    print(page)
    shares = [float(share) for share in re.findall(r": (\d+\.\d)% of", page)]
    assert len(shares) == 9
    assert min(shares) >= 98
    assert page == coverage.PAGE.read_text(encoding="utf-8"), "run `python -m tools.ops.coverage`"
