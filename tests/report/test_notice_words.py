"""What was not seen is said as findings are (docs/messages.md): in a headline of its own, long names or not."""

from __future__ import annotations

import pytest

from mdjudge import badly_worded
from tapelint import analysis
from tapelint.engine.limits import Limits
from tapelint.engine.machine import Machine
from tapelint.report.notice import Kind, Notice

LONG = f"n = {' + '.join(['n'] * 60)}\n"
CUT = f"{f'    {LONG}' * 40}"
LITTLE = Limits(script_fuel=4_000, entry_fuel=1_000, all_entries_fuel=3_000)
"""So that a tenth of the work shows what is said when fuel is spent."""
NAMES = [f"train_the_whole_model_{number}_of_the_long_experiment" for number in range(9)]
VERY_LONG = "one_step_" * 12


def functions(names: list[str], body: str) -> str:
    return "import torch\n" + "".join(f"def {name}(n):\n{body}" for name in names)


CUTS = {
    "one function": functions(["fit"], CUT),
    "a function of several": functions(["fit"], CUT) + functions(["other"], "    return n\n"),
    "functions with long names": functions(NAMES[:3], CUT),
    "a function with a very long name": functions([VERY_LONG], CUT),
    "the script": f"import torch\nn = 1\n{LONG * 150}",
    "too deep": f"import torch\nx = {' + '.join(['1'] * 1_000)}\n",
}
SYNTAX = {
    "one error": "import torch\nz = (\n",
    "several errors": "import torch\nz = )\na = 1\ny = ]\n",
    "a long message of Python": "import torch\nz = 0777\na = 1\ny = 0888\nf(a=1, b)\n",
}


def only(text: str, kind: Kind) -> Notice:
    (notice,) = analysis.analyse(text, "a.py", limits=LITTLE).notices
    assert notice.kind is kind
    return notice


@pytest.mark.parametrize("text", CUTS.values(), ids=CUTS.keys())
def test_followed_in_part(text: str) -> None:
    assert list(badly_worded(only(text, Kind.FOLLOWED_IN_PART).diagnostic)) == []


@pytest.mark.parametrize("text", SYNTAX.values(), ids=SYNTAX.keys())
def test_parsed_in_part(text: str) -> None:
    assert list(badly_worded(only(text, Kind.PARSED_IN_PART).diagnostic)) == []


def test_not_analysed() -> None:
    assert list(badly_worded(only("import torch\n" * 60_001, Kind.NOT_ANALYSED).diagnostic)) == []


@pytest.mark.parametrize("names", [["fit"], NAMES, [VERY_LONG]], ids=["one", "several", "very long"])
def test_an_internal_error(names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The exception is no part of the headline; it is where there is room."""
    evaluate = Machine.eval

    def broken(self: Machine, node: object, state: object) -> object:
        if getattr(node, "id", "") == "broken":
            raise ZeroDivisionError("by nothing, " * 20)
        return evaluate(self, node, state)  # type: ignore[arg-type]

    monkeypatch.setattr(Machine, "eval", broken)
    notice = only(functions(names, "    broken\n"), Kind.FAULT)
    assert list(badly_worded(notice.diagnostic)) == []
    assert "ZeroDivisionError" in notice.sentence and "ZeroDivisionError" in (notice.diagnostic.help or "")


DATA = "import torch\nx = torch.ones(3)\n"
"""The beginning of a program that is checked."""
READS = "class Net(torch.nn.Module):\n    def forward(self, x):\n        return self.layer(x)\n"
ENDS = {
    "an item of a number": f"{DATA}print(x.sum().data[0])\nprint(x)\n",
    "a test of several numbers": f"{DATA}if x > 0:\n    print(x)\n",
    "a long expression": f"{DATA}print((x + x + x + x + x + x + x + x + x + x + x + x + x + x).sum().data[0])\n",
    "a loop": f"{DATA}for step in range(3):\n    print(len(x.sum()))\n",
    "a function that the script calls": f"{DATA}def show(y):\n    return y.data[0]\nshow(x.sum())\nprint(x)\n",
    "PyTorch, in a function without a caller": f"{DATA}def show():\n    return torch.ones(3).sum()[0]\n",
}
GOES_ON = {
    "on one side of a test": f"{DATA}import sys\nif len(sys.argv) > 1:\n    x.sum().data[0]\nprint(x)\n",
    "with another option": f"{DATA}def show(y, old=False):\n    if old:\n        y.data[0]\nshow(x.sum())\n",
    "with a handler": f"{DATA}try:\n    x.sum().data[0]\nexcept IndexError:\n    print(x)\n",
    "a finding tells it": f"{DATA}x.sum().backward()\nprint(x)\n",
    "the program means it": f"{DATA}raise SystemExit(x)\n",
    "Python raises, as far as is known": f"{DATA}{READS}Net()(x)\nprint(None.real)\n",
    "a method that the model does not know": f"{DATA}print(x.shape.numel(), torch.Size([2]).numel())\n",
}


@pytest.mark.parametrize("text", ENDS.values(), ids=ENDS.keys())
def test_where_the_program_raises(text: str) -> None:
    """It is said at its line; what no test leads around is said."""
    notice = only(text, Kind.ENDED)
    assert list(badly_worded(notice.diagnostic)) == []
    assert notice.span.row > 2 and "Error" in notice.message


@pytest.mark.parametrize("text", GOES_ON.values(), ids=GOES_ON.keys())
def test_where_the_program_goes_on(text: str) -> None:
    assert [notice for notice in analysis.analyse(text, "a.py").notices if notice.kind is Kind.ENDED] == []


def test_where_several_functions_raise() -> None:
    """A helper that raises is told of once, whoever calls it."""
    helper = f"{DATA}def loss_of(scale):\n    return (x * scale).sum().data[0]\n"
    callers = "def train():\n    print(loss_of(1))\ndef validate():\n    print(loss_of(2))\n"
    notice = only(helper + callers, Kind.ENDED)
    assert notice.span.row == 4
    assert {place.span.row for place in notice.places} >= {4, 6, 8}


def test_the_rest_of_the_program_is_judged() -> None:
    """Functions that nothing has called when the program raises are entry points."""
    text = f"{DATA}def fit(y):\n    print(y.data[0])\ndef show():\n    y = torch.ones(3, requires_grad=True).exp()\n"
    found = analysis.analyse(f"{text}    y += 1\n    y.sum().backward()\nfit(x.sum())\nshow()\n", "a.py")
    assert [notice.kind for notice in found.notices] == [Kind.ENDED]
    assert [(each.code, each.span.row) for each in found.diagnostics] == [("TL201", 7)]
