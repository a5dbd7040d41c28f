"""The process that checks the files of one repository, one after another: names come in, records go out, a line each.

A file that takes all memory or never ends costs nothing but this process. Where the system can, its memory is limited.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path

from ...report.notice import Kind
from ...workspace import ConfigError, Given
from ..file_check import check_file
from ..task import FileResult, Task
from .records import CheckedFile, Outcome


def main() -> None:
    """Check what standard input names, with at most ``argv[1]`` bytes of memory (0: no limit)."""
    sys.dont_write_bytecode = True
    _limit(int(sys.argv[1]))
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        name = json.loads(line)
        answers.write(json.dumps(asdict(_checked(name))) + "\n")
        answers.flush()


def _limit(memory: int) -> None:
    if memory and sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _checked(name: str) -> CheckedFile:
    begin = time.process_time()
    try:
        config = Given().config(Path(os.path.abspath(name)))
        result = check_file(Task(name, config, "json"))
    except ConfigError as error:
        return CheckedFile(name, notices=[{"kind": "configuration", "message": str(error)}])
    except MemoryError:
        return CheckedFile(name, "memory", round(time.process_time() - begin, 3))
    outcome: Outcome = "memory" if _ran_out(result) else "checked"
    return CheckedFile(
        name,
        outcome,
        round(time.process_time() - begin, 3),
        [each.text for each in result.found if each.is_own],
        [{"kind": each.kind.name.lower(), "message": each.message} for each in result.notices],
    )


def _ran_out(result: FileResult) -> bool:
    """Whether memory ended an analysis."""
    return any(each.kind is Kind.FAULT and "MemoryError" in each.error for each in result.notices)
