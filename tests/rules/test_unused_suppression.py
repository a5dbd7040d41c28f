"""Suppression comments that suppress nothing are distinguished from those that do, and removed."""

from __future__ import annotations

from typing import Any

import pytest

from tapelint.analysis import AnalysisCache, analyse, checking, fixes
from tapelint.engine.analysis_unit import AnalysisUnit
from tapelint.modules.loader import Outdated
from tapelint.source import apply, joined
from tapelint.workspace import Config

BEFORE = "import torch\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\n"
AFTER = "y.sum().backward()\n"
LEAF = "n = y.sum().detach().requires_grad_()"
SPANS = "n = (\n    y.sum()\n    .detach()\n    .requires_grad_()\n)\nn.backward()\n"


def told(rows: str, config: Config = Config()) -> list[tuple[str, str]]:  # noqa: B008 (frozen)
    """What is said of ``rows``, and what becomes of them."""
    report = analyse(f"{BEFORE}{rows}{AFTER}", config=config)
    found = []
    for diagnostic in report.diagnostics:
        if diagnostic.code.startswith("TL9"):
            (fix,) = fixes(report, diagnostic)
            found.append((diagnostic.code, apply(report.source.text, fix.edits)[len(BEFORE) : -len(AFTER)]))
    return found


@pytest.mark.parametrize(
    "rows",
    [
        "y += 1  # tapelint: ignore[TL201]\n",
        "y += 1  # tapelint: ignore\n",
        "y += 1  # noqa: TL201\n",
        "y += 1\n# tapelint: ignore-file[TL201]\n",
        "z = 1  # noqa\n",
        "z = 1  # noqa: E501, TOR101\n",
        "z = 1  # tapelint: ignore[TL207]\n",
        "z = 1  # tapelint: ignore[TL101, TL901]\n",
        "z = (  # tapelint: ignore[TL101]\n",
        "y += 1  # tapelint: ignore[TL201, TL101]\n",
        "# tapelint: ignore[TL201]\n\n# why\ny += 1\n",
        "# noqa: TL201\ny += 1\n",
    ],
    ids=[
        *("code", "all", "noqa", "file", "bare", "foreign", "not asked", "silenced", "broken"),
        *("the path ends", "above", "above, noqa"),
    ],
)
def test_needed_suppressions_are_not_reported(rows: str) -> None:
    assert told(rows) == []


@pytest.mark.parametrize(
    ("row", "code", "fixed"),
    [
        (
            LEAF + "  # tapelint: ignore[TL303, TL101] because\nn.backward()\n",
            "TL901",
            LEAF + "  # tapelint: ignore[TL303] because\nn.backward()\n",
        ),
        ("# tapelint: ignore[TL101]\nz = 1\n", "TL901", "z = 1\n"),
        ("# tapelint: ignore[TL101, TL303]\n" + SPANS, "TL901", "# tapelint: ignore[TL303]\n" + SPANS),
        ("z = 1  # noqa: E501, TL101\n", "TL901", "z = 1  # noqa: E501\n"),
        ("z = 1  # noqa: TL101\n", "TL901", "z = 1\n"),
        ("z = 1  # tapelint: ignore because\n", "TL901", "z = 1\n"),
        ("z = 1  # why  # tapelint: ignore[TL101]\n", "TL901", "z = 1  # why\n"),
        ("z = 1  # tapelint: ignore[TL101]  # noqa: E501\n", "TL901", "z = 1  # noqa: E501\n"),
        ("# tapelint: ignore-file[TL102]\nz = 1\n", "TL901", "z = 1\n"),
        (LEAF + "  # noqa: TL303, TL303\nn.backward()\n", "TL901", LEAF + "  # noqa: TL303\nn.backward()\n"),
        (
            LEAF + "  # tapelint: ignore[TL303, rewrapped-tensor]\nn.backward()\n",
            "TL901",
            LEAF + "  # tapelint: ignore[TL303]\nn.backward()\n",
        ),
        ("# tapelint: disable[TL101]\nz = 1\n", "TL901", "z = 1\n"),
        ("z = 1  # tapelint: ignore[TL1]\n", "TL902", "z = 1\n"),
        ("z = 1  # noqa: E501, TL999\n", "TL902", "z = 1  # noqa: E501\n"),
        ("y += 1  # tapelint: ignore[X1, TL201]\n", "TL902", "y += 1  # tapelint: ignore[TL201]\n"),
    ],
)
def test_unused_suppression_is_removed(row: str, code: str, fixed: str) -> None:
    assert told(row) == [(code, fixed)]


def test_tl901_is_configured_like_any_rule() -> None:
    row = "z = 1  # tapelint: ignore[TL101]\n"
    assert told(row, Config(ignore=("TL9",))) == []
    assert told(row, Config(select=("TL2",))) == []
    assert told(row, Config(ignore=("TL101",))) != []


def test_suppressions_of_disabled_rules_are_not_reported() -> None:
    row = "z = 1  # tapelint: ignore[TL207]\n"
    assert told(row, Config(extend_select=("TL207",))) == [("TL901", "z = 1\n")]


@pytest.mark.parametrize(
    ("word", "near"), [("saved-tensor-modifed", "saved-tensor-modified"), ("tl291", "TL"), ("xyz", None)]
)
def test_an_unknown_word_is_reported_with_the_one_it_may_be(word: str, near: str | None) -> None:
    text = f"{BEFORE}z = 1  # tapelint: ignore[{word}, TL201]\n{AFTER}"
    found = [each for each in analyse(text).diagnostics if each.code == "TL902"]
    assert [(text.split("\n")[3][each.span.column - 1 : each.span.end_column - 1]) for each in found] == [word]
    assert ("did you mean" in found[0].message) == (near is not None) and (near or "") in found[0].message


def test_each_unknown_word_is_reported() -> None:
    found = analyse(f"{BEFORE}z = 1  # tapelint: ignore[X1, X2]\n{AFTER}").diagnostics
    assert [each.code for each in found] == ["TL902", "TL902"]


HEAD = "import torch\nw = torch.ones(3, requires_grad=True)\n"
HERE = "  # tapelint: ignore[TL201]"
END = "y.sum().backward()\n"
IN_WHOLE = {
    "a function": f"def f(t):\n    t = t * 2{HERE}\n    return t\nf(w).sum().backward()\n",
    "a main": f"def main():\n    y = w * 2{HERE}\n    {END}if __name__ == '__main__':\n    main()\n",
    "both sides": f"import sys\nif len(sys.argv) > 1:\n    y = w * 2{HERE}\nelse:\n    y = w * 3\n{END}",
    "a loop that repeats itself": f"for i in range(1000):\n    y = w * 2{HERE}\n    w.grad = None\n    {END}",
    "an iteration now and then": (
        f"for i in range(1000):\n    y = w * 2\n    w.grad = None\n    {END}    if i % 100 == 0:\n        w * 2{HERE}\n"
    ),
    "a class": (
        f"class Net(torch.nn.Module):\n    def forward(self, x):\n        return x * w{HERE}\n"
        "Net()(w).sum().backward()\n"
    ),
    "a lambda that is called": f"f = lambda t: t * 2{HERE}\nf(w).sum().backward()\n",
    "a comprehension": f"y = [w * i for i in range(3)]{HERE}\nsum(y).sum().backward()\n",
    "arguments that the program refuses": (
        f"import sys\nif len(sys.argv) > 1:\n    raise SystemExit(2)\ny = w * 2{HERE}\n{END}"
    ),
    "what only checkers of types read": (
        f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from typing import Any\ny = w * 2{HERE}\n{END}"
    ),
}
IN_PART = {
    "one side": f"FLAG = True\ny = w * 2 if FLAG else w.exp()\ny = y * 2{HERE}\n{END}",
    "the rest of a condition": f"DEBUG = False\nDEBUG and print(w.exp())\ny = w * 2{HERE}\n{END}",
    "a function that nobody calls": f"def f(t):\n    return t * 2{HERE}\nw.sum().backward()\n",
    "another function that nobody calls": f"def f(t):\n    return t * 2\ny = w * 2{HERE}\n{END}",
    "one case": f"match 1:\n    case 1:\n        y = w * 2{HERE}\n    case 2:\n        y = w.exp()\n{END}",
    "nothing to go through": f"x = [w.exp() for i in ()]\ny = w * 2{HERE}\n{END}",
    "backward from what is not known": f"import unknown\ny = w * 2{HERE}\nunknown.loss(1).backward()\n",
    "an error of Python's": f"x = 'a'.nothing()\ny = w * 2{HERE}\n{END}",
    "an error on one side": f"import sys\nif len(sys.argv) > 1:\n    'a'.nothing()\ny = w * 2{HERE}\n{END}",
    "more than the budget": f"def f():\n    {'[' * 11}1 + 1{' for i in range(3)]' * 11}\nf()\ny = w * 2{HERE}\n{END}",
}


@pytest.mark.parametrize("program", IN_WHOLE.values(), ids=IN_WHOLE.keys())
def test_unused_where_the_file_was_executed_in_whole(program: str) -> None:
    assert [diagnostic.code for diagnostic in analyse(HEAD + program).diagnostics] == ["TL901"]


@pytest.mark.parametrize("program", IN_PART.values(), ids=IN_PART.keys())
def test_not_reported_where_a_budget_cut_the_analysis(program: str) -> None:
    assert "TL901" not in [diagnostic.code for diagnostic in analyse(HEAD + program).diagnostics]


@pytest.mark.parametrize("program", [*IN_WHOLE.values(), *IN_PART.values()], ids=[*IN_WHOLE, *IN_PART])
def test_incremental_equals_fresh_for_suppressions(program: str) -> None:
    """What a step has executed is known as long as the step holds."""
    memory, text = AnalysisCache(persistent=True), HEAD + program
    analyse(text.replace("y = w * 2", "y = w + 2"), memory=memory)
    for edited in (text, text + "# end\n", "# begin\n" + text, text):
        now = [(d.code, d.span) for d in analyse(edited, memory=memory).diagnostics]
        assert now == [(d.code, d.span) for d in analyse(edited).diagnostics]


def test_not_reported_in_files_that_others_import() -> None:
    text = HEAD + IN_WHOLE["a function"]
    assert analyse(text, "a.py", is_imported=lambda path: path == "b.py").diagnostics
    assert not analyse(text, "b.py", is_imported=lambda path: path == "b.py").diagnostics


def test_a_second_cell_run_hides_no_unused_suppression() -> None:
    cells = joined(enumerate([HEAD, f"y = w * 2{HERE}", "z = y.exp().sum()", "z.backward()"], 1))
    assert [diagnostic.code for diagnostic in analyse(cells).diagnostics] == ["TL901", "TL108"]


def test_another_file_may_import_it_also_after_the_analysis_starts_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an import meant may turn out to be outdated in the middle of an analysis."""
    text = f"{BEFORE}z = 1  # tapelint: ignore[TL201]\n{AFTER}"
    outdated = [Outdated()]

    def executed_late(*arguments: Any) -> list[AnalysisUnit]:
        if outdated:
            raise outdated.pop()
        return execute(*arguments)

    execute = checking.executed
    monkeypatch.setattr(checking, "executed", executed_late)
    report = analyse(text, is_imported=lambda path: True)
    assert not outdated and not report.diagnostics and report.inputs.is_imported is not None


def test_what_is_hidden_is_the_same_after_an_edit() -> None:
    """A hover reads it from the analysis that is kept."""
    memory = AnalysisCache(persistent=True)
    rows = "def f():\n    torch.ones(3).sum().backward()  # tapelint: ignore\n\n\n# tapelint: disable[TL201]\ny += 1\n"
    for text in (f"{BEFORE}{rows}{AFTER}", f"{BEFORE}# here\n{rows}{AFTER}", f"{BEFORE}{rows}{AFTER}# there\n"):
        now = [(h.diagnostic.code, h.diagnostic.span, h.rows) for h in analyse(text, memory=memory).hidden]
        assert now == [(h.diagnostic.code, h.diagnostic.span, h.rows) for h in analyse(text).hidden]
        assert [code for code, *_ in now] == ["TL301", "TL201"]
