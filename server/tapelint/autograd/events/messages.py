"""The two errors of a backward that are easily taken for each other, by what their messages say.

with pytest.raises(RuntimeError, match="second time"):     does not end what says "modified by an inplace operation"
    loss.backward()
"""

from __future__ import annotations

import re
from functools import lru_cache

SECOND_TIME = "Trying to backward through the graph a second time"
MODIFIED = "one of the variables needed for gradient computation has been modified by an inplace operation"
MESSAGES = (SECOND_TIME, MODIFIED)
"""What they begin with; the rest is about tensors."""


@lru_cache(4096)
def is_of_another(pattern: str, message: str) -> bool:
    """Whether a pattern, as ``re.search`` takes it, describes the other of the two messages and not this one. Where it
    describes neither it may be about the rest.
    """
    if message not in MESSAGES:
        return False
    try:
        return any(re.search(pattern, each) for each in MESSAGES) and not re.search(pattern, message)
    except (re.error, RecursionError):
        return False
