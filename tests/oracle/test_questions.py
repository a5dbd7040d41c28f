"""What the engine decides of a known value is what Python and PyTorch say, and it decides no less than it did."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")

from questions import TABLE, VALUES, asked_about, undecided


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", VALUES)
def test_questions_about_known_values(kind: str) -> None:
    known, found = undecided(), asked_about(kind, TABLE)
    wrong = [str(each) for each in found if each.is_wrong]
    assert not wrong, "\n".join(wrong)
    lost = [
        str(each) for each in found if not each.is_decided and kind not in known.get(each.question.text, frozenset())
    ]
    assert not lost, "\n".join(lost)
