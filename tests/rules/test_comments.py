"""Comments that silence nothing are told from those that do, and taken away without a trace."""

from __future__ import annotations

import pytest

from tapelint.analysis import analyse, fixes
from tapelint.source import apply
from tapelint.workspace import Config

BEFORE = "import torch\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\n"
AFTER = "y.sum().backward()\n"


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
    ],
    ids=["code", "all", "noqa", "file", "bare", "foreign", "not asked", "silenced", "broken"],
)
def test_nothing_is_said_of_what_may_be_of_use(rows: str) -> None:
    assert told(rows) == []


@pytest.mark.parametrize(
    ("row", "code", "fixed"),
    [
        ("y += 1  # tapelint: ignore[TL201, TL101] because\n", "TL901", "y += 1  # tapelint: ignore[TL201] because\n"),
        ("z = 1  # noqa: E501, TL101\n", "TL901", "z = 1  # noqa: E501\n"),
        ("z = 1  # noqa: TL101\n", "TL901", "z = 1\n"),
        ("z = 1  # tapelint: ignore because\n", "TL901", "z = 1\n"),
        ("z = 1  # why  # tapelint: ignore[TL101]\n", "TL901", "z = 1  # why\n"),
        ("z = 1  # tapelint: ignore[TL101]  # noqa: E501\n", "TL901", "z = 1  # noqa: E501\n"),
        ("# tapelint: ignore-file[TL102]\nz = 1\n", "TL901", "z = 1\n"),
        ("z = 1  # tapelint: ignore[TL1]\n", "TL902", "z = 1\n"),
        ("z = 1  # noqa: E501, TL999\n", "TL902", "z = 1  # noqa: E501\n"),
        ("y += 1  # tapelint: ignore[X1, TL201]\n", "TL902", "y += 1  # tapelint: ignore[TL201]\n"),
    ],
)
def test_what_is_of_no_use_is_taken_away(row: str, code: str, fixed: str) -> None:
    assert told(row) == [(code, fixed)]


def test_configured_like_any_rule() -> None:
    row = "z = 1  # tapelint: ignore[TL101]\n"
    assert told(row, Config(ignore=("TL9",))) == []
    assert told(row, Config(select=("TL2",))) == []
    assert told(row, Config(ignore=("TL101",))) != []


def test_a_rule_that_is_off_is_not_asked_and_one_that_is_on_is() -> None:
    row = "z = 1  # tapelint: ignore[TL207]\n"
    assert told(row, Config(extend_select=("TL207",))) == [("TL901", "z = 1\n")]


def test_a_name_is_no_code_but_tells_it() -> None:
    report = analyse(f"{BEFORE}z = 1  # tapelint: ignore[saved-tensor-modified]\n{AFTER}")
    assert "did you mean TL201?" in report.diagnostics[0].message
