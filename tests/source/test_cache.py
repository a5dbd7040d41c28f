"""Which texts of imported files are remembered."""

from __future__ import annotations

from tapelint.bounds import BOUNDS
from tapelint.source.parsing import parsed


def test_of_a_file_that_is_edited_the_last_texts_are_remembered() -> None:
    other = parsed("y = 1", "other.py")
    texts = [f"x = {number}" for number in range(BOUNDS.kept_versions + 1)]
    first, *last = [parsed(text, "edited.py") for text in texts]
    assert all(parsed(text, "edited.py") is known for text, known in zip(texts[1:], last, strict=True))
    assert parsed(texts[0], "edited.py") is not first
    assert parsed("y = 1", "other.py") is other
