"""Every sample of every op, run: nothing that its row claims may be untrue, and hardly anything may go unclaimed.

The rows were made from some of these samples; here are all of them, resolved as the interpreter does it.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
judging = pytest.importorskip("tools.ops.judge", reason="needs torchgen and PyYAML")

from tools.ops import native, samples  # noqa: E402
from tools.ops.hand_samples import CALLS  # noqa: E402
from tools.ops.probed import diverse  # noqa: E402
from tools.ops.quiet import quiet  # noqa: E402

from tapelint import ops  # noqa: E402

ENOUGH = 12


def function_of(name: str) -> object:
    if name in CALLS:
        return CALLS[name]
    if name.startswith("nn.functional."):
        return getattr(F, name.removeprefix("nn.functional."), None)
    return next(native.callables(name), getattr(torch.functional, name, None))


def test_no_op_of_the_table_is_a_false_alarm() -> None:
    run, untrue, unclaimed = 0, [], Counter[str]()
    for name in sorted(ops.names()):
        function = function_of(name)
        if function is None or name.startswith(("__", "Tensor.")):
            continue
        with quiet():
            calls = diverse(samples.for_row(name), strided=False)[:ENOUGH]
        for positional, keywords in calls:
            run += 1
            for outcome in judging.judge(name, function, positional, keywords):
                if " claims " in outcome:
                    untrue.append(f"{name}/{outcome}")
                elif "saved" in outcome:
                    unclaimed[name] += 1
    print(f"{run} calls judged, {len(untrue)} claims untrue, unclaimed: {dict(unclaimed)}")
    assert untrue == []
    assert run > 4000
    assert len(unclaimed) < 60
