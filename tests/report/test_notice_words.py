"""What was not seen is said as findings are (docs/messages.md): in a headline of its own, long names or not."""

from __future__ import annotations

import pytest

from mdjudge import badly_worded
from tapelint import analysis
from tapelint.engine.machine import Machine
from tapelint.report.notice import Kind, Notice

LONG = f"n = {' + '.join(['n'] * 60)}\n"
CUT = f"{f'    {LONG}' * 400}"
NAMES = [f"train_the_whole_model_{number}_of_the_long_experiment" for number in range(9)]
VERY_LONG = "one_step_" * 12


def functions(names: list[str], body: str) -> str:
    return "import torch\n" + "".join(f"def {name}(n):\n{body}" for name in names)


CUTS = {
    "one function": functions(["fit"], CUT),
    "a function of several": functions(["fit"], CUT) + functions(["other"], "    return n\n"),
    "functions with long names": functions(NAMES[:3], CUT),
    "a function with a very long name": functions([VERY_LONG], CUT),
    "the script": f"import torch\nn = 1\n{LONG * 1500}",
    "too deep": f"import torch\nx = {' + '.join(['1'] * 1_000)}\n",
}
SYNTAX = {
    "one error": "import torch\nz = (\n",
    "several errors": "import torch\nz = )\na = 1\ny = ]\n",
    "a long message of Python": "import torch\nz = 0777\na = 1\ny = 0888\nf(a=1, b)\n",
}


def only(text: str, kind: Kind) -> Notice:
    (notice,) = analysis.analyse(text, "a.py").notices
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
