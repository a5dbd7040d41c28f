"""The files that use those of a run: each is executed once more, for what it does to them.

tapelint check helper.py      also executes train.py, which calls `helper.step`, and prints what stands in helper.py
tapelint check .              has executed train.py anyway
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path

from ..source import concerns_torch
from ..workspace import ConfigError, Resolver, discover
from ..workspace.callers import MOST_FILES, best_of_all, find_callers
from .task import Task

FEWEST = 3
"""So many callers are executed for one file; for several, as many as there are files."""


def caller_tasks(tasks: Sequence[Task]) -> tuple[list[Task], bool]:
    """What to execute beside the ``tasks``, and whether a project is too large to look for all of it."""
    resolver = Resolver([os.curdir])
    known = {os.path.abspath(task.path): task for task in tasks}

    @lru_cache(maxsize=64)
    def has_others(root: str) -> bool:
        """Whether a project has a file that is not checked anyway, or more than are looked at."""
        files = [*islice(discover(root), MOST_FILES)]
        return len(files) == MOST_FILES or not known.keys() >= {*files}

    wanted = [
        path
        for path, task in known.items()
        if task.text is None
        and task.config.callers
        and has_others(resolver.root(path))
        and concerns_torch(resolver.text(path) or "", path, resolver)
    ]
    found = find_callers(wanted, resolver)
    made: list[Task] = []
    for path, (rank, names) in best_of_all(found, known, max(FEWEST, len(tasks))).items():
        try:
            config = tasks[0].given.config(Path(path))
        except ConfigError:
            continue
        shown = path if os.path.isabs(tasks[0].path) else os.path.relpath(path)
        asked = replace(tasks[0], path=shown, config=config, text=None, fix="no", writes=False)
        made.append(replace(asked, focus=names, rank=rank))
    return made, found.was_cut
