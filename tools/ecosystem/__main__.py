"""Measure and compare what tapelint sees in whole repositories.

    make ecosystem DIR="/checkouts/*"
    python -m tools.ecosystem [NAME=]PATH[@COMMIT][:FOLDER]... [--json FILE] [--against OLD.json] [--findings]
                              [--roots]

Every PATH is one repository: a folder, or a bare git directory of which a commit (HEAD) is read. Nothing of it is
executed and nothing is fetched. Exit status 1: tapelint itself has failed somewhere (each fault is printed, with its
file, entry point, exception and frame), or `--against` shows a change.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from .repository import repository
from .survey import Survey, as_data, from_data, survey
from .table import changes, table


def main() -> int:
    """Survey what is asked for and print it; the exit status."""
    parser = argparse.ArgumentParser(prog="ecosystem", description="Measure what tapelint sees in whole repositories.")
    parser.add_argument("repositories", nargs="+", metavar="REPOSITORY", help="[NAME=]PATH[@COMMIT][:FOLDER]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to FILE, after each repository")
    parser.add_argument("--against", type=Path, metavar="FILE", help="list what changed since the run that wrote FILE")
    parser.add_argument("--findings", action="store_true", help="list every finding below the table")
    parser.add_argument("--roots", action="store_true", help="list the backward calls with an unknown root, and why")
    options = parser.parse_args()
    try:
        wanted = [repository(address) for address in options.repositories]
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        parser.error(f"no such folder or commit: {error}")
    surveys = []
    for which in wanted:
        print(f"{which.name} ...", file=sys.stderr)
        surveys.append(survey(which, options.roots))
        if options.json:  # after each one: what an interrupted run has seen is kept
            data = [as_data(found) for found in surveys]
            options.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    faults = [f"{found.name}: {fault}" for found in surveys for fault in found.faults]
    for line in (*table(surveys), *_details(surveys, options.findings), *faults):
        print(line)
    if options.against:
        old = [from_data(data) for data in json.loads(options.against.read_text(encoding="utf-8"))]
        changed = list(changes(old, surveys))
        print("\n".join(changed) or "the same findings as before")
        return 1 if changed or faults else 0
    return 1 if faults else 0


def _details(surveys: Sequence[Survey], findings: bool) -> Iterator[str]:
    """The lines below the table: every finding if asked for, and the unknown roots."""
    if findings:
        yield from (f"{found.name}: {each.place}" for found in surveys for each in found.findings)
    yield from (f"{found.name}: {line}" for found in surveys for line in found.roots)


if __name__ == "__main__":
    sys.exit(main())
