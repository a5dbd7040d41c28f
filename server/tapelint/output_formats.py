"""In which formats findings can be printed. The command line knows them before it loads anything else."""

from __future__ import annotations

FORMATS = (
    *("full", "concise", "grouped", "json", "json-lines", "sarif", "junit", "github", "gitlab", "pylint", "azure"),
    "rdjson",
)
COUNTED = ("full", "concise", "json")
"""Those that ``--statistics`` has."""
