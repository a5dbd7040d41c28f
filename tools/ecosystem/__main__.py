"""Measure and compare what tapelint sees in whole repositories.

    make ecosystem                                      the repositories of the list, and what differs from it
    python -m tools.ecosystem [--update] [--repository GLOB]... [--clones FOLDER] [--jobs N]
                              [--timeout SECONDS]

    make ecosystem DIR="/checkouts/*"                   any repositories: a table
    python -m tools.ecosystem [NAME=]PATH[@COMMIT][:FOLDER]... [--json FILE] [--against OLD.json] [--findings]
                              [--roots]

The list is tests/ecosystem/repositories.toml. Its repositories are taken from the folder of clones ($ECOSYSTEM_CLONES)
or fetched; nothing of a repository is executed. Exit status 1: tapelint itself has failed somewhere (each fault is
printed), or something differs from the list (or, with `--against`, from the earlier run).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from ..docs.tables import filled
from .checked import TIMEOUT
from .counts import PAGE
from .counts import table as table_of_list
from .known import Means, run
from .pins import pins
from .repository import repository
from .settings import Malformed
from .survey import Survey, as_data, from_data, survey
from .table import changes, table


def main() -> int:
    """Look at what is asked for and print what there is to say; the exit status."""
    parser = argparse.ArgumentParser(prog="ecosystem", description="Measure what tapelint sees in whole repositories.")
    parser.add_argument("repositories", nargs="*", metavar="REPOSITORY", help="[NAME=]PATH[@COMMIT][:FOLDER]")
    listed = parser.add_argument_group("for the list, if no REPOSITORY is named")
    listed.add_argument("--update", action="store_true", help="write the list and the table of docs/ecosystem.md anew")
    listed.add_argument("--repository", action="append", metavar="GLOB", help="only those of the list with such a name")
    clones = os.environ.get("ECOSYSTEM_CLONES")
    listed.add_argument("--clones", type=Path, default=clones, metavar="FOLDER", help="clones to be used if they can")
    listed.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at the same time")
    listed.add_argument("--timeout", type=float, default=TIMEOUT, metavar="SECONDS", help="for one repository")
    named = parser.add_argument_group("for each REPOSITORY")
    named.add_argument("--json", type=Path, metavar="FILE", help="write everything to FILE, after each repository")
    named.add_argument("--against", type=Path, metavar="FILE", help="list what changed since the run that wrote FILE")
    named.add_argument("--findings", action="store_true", help="list every finding below the table")
    named.add_argument("--roots", action="store_true", help="list the backward calls with an unknown root, and why")
    options = parser.parse_args()
    try:
        return _named(options) if options.repositories else _listed(options)
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        parser.error(f"no such folder or commit: {error}")
    except Malformed as error:
        parser.error(str(error))


def _listed(options: argparse.Namespace) -> int:
    """The repositories of the list."""
    globs = options.repository or ["*"]
    wanted = [pin for pin in pins() if any(fnmatchcase(pin.name, glob) for glob in globs)]
    if not wanted:
        raise FileNotFoundError(f"no repository of the list is called {' or '.join(globs)}")
    status = run(wanted, Means(options.clones, options.timeout, options.jobs), update=options.update)
    if options.update:
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), {"ecosystem": table_of_list}), encoding="utf-8")
    return status


def _named(options: argparse.Namespace) -> int:
    """The repositories that are named."""
    wanted = [repository(address) for address in options.repositories]
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
