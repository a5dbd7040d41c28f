"""The fuzzer itself: what it writes, how it compares, what it makes of a disagreement."""

from __future__ import annotations

import ast
import os
import time
from collections import Counter

import pytest

pytest.importorskip("torch")

from tools.fuzz.features import features
from tools.fuzz.judge import Outcome, Truth, compare, judge, predict, run
from tools.fuzz.pool import Judged, each
from tools.fuzz.program import PREAMBLE, program
from tools.fuzz.shrink import shrunk
from tools.fuzz.tally import Tally

TWICE = "x = torch.rand(4, requires_grad=True)\nloss = x.exp().sum()\nloss.backward()\nloss.backward()\n"


def whole(text: str) -> str:
    return PREAMBLE + text


def row(text: str, words: str) -> int:
    return next(n for n, line in enumerate(whole(text).splitlines(), 1) if line == words)


def test_a_seed_always_gives_the_same_program() -> None:
    assert program("7") == program("7") != program("8")


def test_programs_can_be_read_and_are_of_every_kind() -> None:
    texts = [program(str(seed)) for seed in range(150)]
    found = Counter(feature for text in texts for feature in features(text))
    for text in texts:
        ast.parse(text)
    wanted = {"loops", "branches", "try", "no_grad", "checkpoint", "generators", "closures", "dicts", "several roots"}
    assert wanted <= found.keys()


def test_an_error_is_known_by_its_kind_and_line() -> None:
    truth = run(whole(TWICE))
    assert truth.errors == {Outcome("second time", len(whole(TWICE).splitlines()))}
    assert truth.usable and truth.whole


def test_both_sides_of_an_unknown_branch_are_run() -> None:
    text = (
        "x = torch.rand(4, requires_grad=True)\n"
        "y = x.exp()\n"
        "if y.sum().item() > 0.5:\n"
        "    y += 1\n"
        "if random.random() > 0.5:\n"
        "    x += 1\n"
        "y.sum().backward()\n"
    )
    expected = {Outcome("modified", row(text, "y.sum().backward()")), Outcome("leaf", row(text, "    x += 1"))}
    assert run(whole(text)).errors == expected
    assert predict(whole(text))[0] == expected


def test_the_same_question_has_the_same_answer() -> None:
    text = (
        "x = torch.rand(4, requires_grad=True)\n"
        "flag = random.random() > 0.5\n"
        "y = x.exp()\n"
        "if flag:\n"
        "    y = y.detach()\n"
        "if not flag:\n"
        "    y.sum().backward()\n"
    )
    assert run(whole(text)).errors == frozenset()


def test_an_error_in_a_hook_belongs_to_the_backward() -> None:
    text = (
        "class Fn(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x):\n"
        "        ctx.save_for_backward(x)\n"
        "        return x * x\n"
        "    @staticmethod\n"
        "    def backward(ctx, grad):\n"
        "        x, = ctx.saved_tensors\n"
        "        return grad * x\n"
        "y = Fn.apply(torch.rand(4, requires_grad=True)).sum()\n"
        "y.backward()\n"
        "y.backward(retain_graph=True)\n"
    )
    assert run(whole(text)).errors == {Outcome("second time", row(text, "y.backward(retain_graph=True)"))}


def test_other_errors_are_not_compared() -> None:
    assert not run(whole("torch.rand(3) @ torch.rand(4)\n")).usable
    assert judge(whole("torch.rand(3) @ torch.rand(4)\n")).sort == "other error"


@pytest.mark.parametrize(
    ("real", "said", "unsure", "sort"),
    [
        ((), (), "", "agree"),
        ((), ("modified",), "", "false alarm"),
        (("modified",), (), "", "silent"),
        (("modified",), (), "1 dropped", "unknown"),
        (("modified",), ("second time",), "", "otherwise"),
    ],
)
def test_kinds_of_disagreement(real: tuple[str, ...], said: tuple[str, ...], unsure: str, sort: str) -> None:
    truth = Truth(frozenset(Outcome(kind, 1) for kind in real))
    assert compare(truth, frozenset(Outcome(kind, 1) for kind in said), unsure).sort == sort


def test_shrinking_removes_irrelevant_statements() -> None:
    text = "a = 1\nfor i in range(3):\n    b = (a + 1) * 2\n    c = b\nprint(c)\n"
    assert shrunk(text, lambda smaller: "+" in smaller) == "b = a + 1\n"


def test_a_tally_counts_each_feature() -> None:
    verdict = judge(whole(TWICE))
    tally = Tally()
    tally.add(Judged(1, whole(TWICE), verdict, frozenset({"loops"}), True, 2))
    assert tally.reached() and tally.all.raising == tally.by_feature["loops"].raising == 1
    assert "1 second time" in str(tally) and tally.rejected == 2


def fragile(number: int) -> int:
    """Ends its process, or never ends, where it is told to."""
    if number == 2:
        os._exit(3)
    if number == 4:
        time.sleep(600)
    return number * number


def test_a_crash_or_timeout_loses_one_program() -> None:
    began = time.monotonic()
    assert dict(each(fragile, range(8), jobs=2, seconds=5)) == {n: None if n in (2, 4) else n * n for n in range(8)}
    assert time.monotonic() - began < 60


def test_stopped_generators_leave_no_process() -> None:
    found = each(fragile, iter(range(10, 10**9)), jobs=2, seconds=5)
    assert next(found)[1]
    found.close()
