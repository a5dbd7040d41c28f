"""What is to be done with one file and what came out of it: small values that can be pickled.

Other processes take over files: tasks and results travel, the tree of a file never does.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

from ..frozen import frozen
from ..report.block import Block
from ..report.diagnostic import Diagnostic
from ..report.notice import Notice
from ..workspace import Config, Given

Fixing = Literal["no", "safe", "unsafe"]


@frozen
class Task:
    """What to do with one file."""

    path: str
    config: Config
    output_format: str
    # None: still to be read from ``path``
    text: str | None = None
    fix: Fixing = "no"
    # the fixed text replaces the file
    writes: bool = False
    # say how much of it was followed
    tells_coverage: bool = False
    # for the configurations of other files that findings stand in
    given: Given = Given()
    # not empty: the file is executed only for what stands in others that it imports, and knows by these names
    focus: frozenset[str] = frozenset()
    # the place of such a file among the callers of the one that it is executed for
    rank: int = 0
    # another run may take the result for its own
    is_recorded: bool = False
    # where nothing was found since none of its backward calls was followed, say why: that takes another execution
    explains_silence: bool = False


@frozen
class Found:
    """A finding of one file's analysis: ``text`` is what a format for programs says of it, ``offers`` the part of that
    about its fixes, and ``row`` the text of the row that it begins in; for a person there is a ``block`` to be printed.
    It ``is_own`` where it stands in the analysed file itself, and ``has_fixes`` where what is offered does not only say
    why there is none. The exit status is 1 if any ``counts``.
    """

    diagnostic: Diagnostic
    text: Any
    offers: Any
    row: str
    is_own: bool
    has_fixes: bool = False
    counts: bool = True
    block: Block | None = None


@dataclass(slots=True)
class FileResult:
    """What there is to print about one file."""

    path: str
    # what was found in this file and in others
    found: list[Found] = field(default_factory=list)
    # in formats for programs notices, each as the format wants it
    listed: list[Any] = field(default_factory=list)
    # lines for standard error; failures make the exit status 2
    warnings: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    stats: Counter[str] = field(default_factory=Counter)
    # how much was followed, in a sentence
    coverage: str = ""
    # the same where nothing was found and none of its backward calls was followed: with a place
    unfollowed: str = ""
    # it says why
    is_explained: bool = False
    # where its backward calls end that were not followed, and those of other files that were
    missed: frozenset[tuple[int, int]] = frozenset()
    reached: frozenset[tuple[str, int, int]] = frozenset()
    # what was not analysed; at a terminal it is only counted
    notices: list[Notice] = field(default_factory=list)
    # the notices of formats that list them apart from the findings (SARIF)
    notifications: list[Any] = field(default_factory=list)
    # a notice makes the exit status 1, as a syntax error does
    counts: bool = False
    # why it was not executed, where that is as it should be
    skipped: str = ""
    seconds: float = 0.0
    # how many findings of each rule were fixed, by its code and name, and the text before and after that
    fixed: Counter[tuple[str, str]] = field(default_factory=Counter)
    before: str = ""
    after: str = ""
    # all of this with what it rests on, as JSON, where another run may use it
    record: str | None = None

    @property
    def fixes(self) -> int:
        """How many fixes were made."""
        return self.fixed.total()
