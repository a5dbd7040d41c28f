"""What the two large forges show beside changed lines.

::error title=TL101 (...),file=train.py,line=3,endLine=3,col=1,endColumn=7::message     GitHub, one line each
[{"description", "check_name", "fingerprint", "severity", "location"}]                  GitLab, code quality
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from typing import Any

from ..severity import Severity
from .diagnostic import Diagnostic

_COMMANDS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "notice",
    Severity.HINT: "notice",
}
_GRAVITY = {
    Severity.ERROR: "critical",
    Severity.WARNING: "major",
    Severity.INFORMATION: "minor",
    Severity.HINT: "info",
}


def github(diagnostic: Diagnostic) -> str:
    """One finding as a workflow command."""
    span = diagnostic.span
    properties = {
        "title": f"{diagnostic.code} ({diagnostic.name})",
        "file": diagnostic.filename,
        "line": span.row,
        "endLine": span.end_row,
    }
    if span.row == span.end_row:  # columns of a finding over several rows are refused
        properties |= {"col": span.column, "endColumn": span.end_column}
    listed = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{_COMMANDS[diagnostic.severity]} {listed}::{_data(chr(10).join(diagnostic.lines))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def gitlab(diagnostic: Diagnostic, row: str, seen: Counter[str]) -> dict[str, Any]:
    """One finding as an entry of a code quality report; ``row`` is the text there, ``seen`` counts what is alike.

    The fingerprint does not depend on what stands above: it is the same when the finding moves.
    """
    what = f"{diagnostic.code}\0{_relative(diagnostic.filename)}\0{row.strip()}"
    seen[what] += 1
    return _entry(diagnostic, f"{what}\0{seen[what]}", _GRAVITY[diagnostic.severity])


def gitlab_notice(diagnostic: Diagnostic) -> dict[str, Any]:
    """What was not seen of a file, as an entry: no defect of the code, so no more than an information; a merge request
    shows it where it is new, and a file has one of each code, whatever it names.
    """
    return _entry(diagnostic, f"{diagnostic.code}\0{_relative(diagnostic.filename)}", "info")


def _relative(filename: str) -> str:
    """The path from the current folder, with slashes: GitLab drops entries with absolute ones. A file that is not below
    it keeps its path.
    """
    path = os.path.relpath(filename) if os.path.isabs(filename) else os.path.normpath(filename)
    return (filename if path.startswith(os.pardir) else path).replace(os.sep, "/")


def _entry(diagnostic: Diagnostic, what: str, gravity: str) -> dict[str, Any]:
    return {
        "description": f"{diagnostic.code} {diagnostic.message}",
        "check_name": diagnostic.code,
        "fingerprint": hashlib.sha256(what.encode("utf-8", "backslashreplace")).hexdigest(),
        "severity": gravity,
        "location": {
            "path": _relative(diagnostic.filename),
            "lines": {"begin": diagnostic.span.row, "end": diagnostic.span.end_row},
        },
    }
