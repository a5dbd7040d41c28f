"""Measure what users wait for.

    make bench                          over examples/, with TorchFix beside it
    make bench DIR="folder folder"      over other folders
    python -m tools.bench [FOLDER]... [--json] [--only PART]... [--worst N]
    python -m tools.bench --where FILE     where the time of one file goes
    make bench-sessions DIR=folder      what editing costs the server, over files of the clones there
    make bench-others DIR=folder        the same edits beside the language servers of ruff, ty and pyright
    make bench-thousand DIR=folder      a thousand training files of the clones there, or of GitHub, with TorchFix

The parts: `files` (analysis in units of `ast.parse`), `rules` (what all of them cost beside the engine), `cold` (new
processes), `growth` (long and deeply nested programs), `edits` (an edit of one line in training scripts), `server`
(the language server: waiting and memory), `torchfix` (the same files in TorchFix), and, only where they are asked for,
`sessions` (edits, hovers and the lightbulb in real files), `others` (the same edits in the servers of ruff, ty and
pyright) and `thousand` (a cold run over many files). Only the last uses the network, for repositories that are not in
the folder; the targets install TorchFix and the other servers.

Exit status 1: a check without findings imported what it has no use for. Else 0: times depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tapelint.cli import collect_rarely

from . import cold, edits, growth, others, ratio, rulecost, server, sessions, thousand, torchfix, where
from .timing import machine, percentile

AIM = 5
"""How much faster than TorchFix tapelint wants to be."""

Lines = Iterator[str]
Result = dict[str, Any]
"""What ``--json`` prints, by part."""


def files(options: argparse.Namespace, result: Result) -> Lines:
    """The ratio to ``ast.parse`` over all files."""
    measured = [ratio.measure(path, text) for path, text in ratio.torch_files(options.folders)]
    measured.sort(key=lambda file: -file.ratio)
    result["files"] = [{**asdict(file), "ratio": file.ratio} for file in measured]
    yield f"analysis / ast.parse (processor time), {len(measured)} files that mention torch"
    if not measured:
        return
    ratios = [file.ratio for file in measured]
    result["median"], result["p95"] = statistics.median(ratios), percentile(ratios, 0.95)
    whole = sum(file.analysis for file in measured)
    yield f"  median {result['median']:.1f}, p95 {result['p95']:.0f}, worst {ratios[0]:.0f}; all files {whole:.2f} s"
    slower = [file for file in measured if file.analysis > 0.1]
    yield f"  over 100 ms: {len(slower)} files, over 500 ms: {sum(file.analysis > 0.5 for file in slower)}"
    yield from table(
        ("ratio", "analysis", "parse", "lines", "steps", "dropped", "file"),
        (
            (
                f"{file.ratio:.0f}",
                seconds(file.analysis),
                seconds(file.parse),
                str(file.lines),
                str(file.stats["steps"]),
                str(file.stats["dropped"]) + (" out of fuel" if file.stats["out_of_fuel"] else ""),
                file.path,
            )
            for file in measured[: options.worst]
        ),
    )


def rules(options: argparse.Namespace, result: Result) -> Lines:
    """The rules beside the engine."""
    cost = rulecost.measure(list(ratio.torch_files(options.folders)))
    result["rules"] = {**asdict(cost), "share": cost.share}
    verdict = "ok" if cost.share <= rulecost.MOST else "missed"
    yield f"rules (processor time), asked {cost.asked:,} times"
    yield (
        f"  {seconds(cost.rules):>9}  all rules together: {cost.share:.1%} of the engine's {seconds(cost.engine)}"
        f" (aim {rulecost.MOST:.0%}: {verdict})"
    )


def starts(options: argparse.Namespace, result: Result) -> Lines:
    """Cold starts, and what they import."""
    result["starts"] = cold.starts()
    yield f"cold start (wall time), median of {cold.RUNS} processes"
    for what, taken in result["starts"].items():
        yield f"  {seconds(taken):>9}  {what}"
    result["imported"] = unwanted = cold.imported()
    if unwanted:
        yield f"  FAILED: a check without findings imports {', '.join(unwanted)}"
    else:
        yield f"  ok: a check without findings imports none of {', '.join(cold.LAZY)}"


def sizes(options: argparse.Namespace, result: Result) -> Lines:
    """Time as programs grow."""
    yield "growth (processor time)"
    yield f"  {growth.BUDGETS}"
    found = []
    for shape in _by_shape(growth.points()):
        found += shape
        yield from table(
            (shape[0].shape, "time", "ratio to parse", "a statement", "steps", "a step", ""),
            (
                (
                    f"{point.size:,}",
                    seconds(point.seconds),
                    f"{point.ratio:.1f}",
                    seconds(point.per),
                    f"{point.steps:,}",
                    seconds(point.seconds / max(1, point.steps)),
                    "cut short by the budget" if point.is_cut else "",
                )
                for point in shape
            ),
        )
        if len(whole := [point for point in shape if not point.is_cut]) > 2:
            first, last = whole[-2:]
            yield f"  {last.size / first.size:g} times the size took {last.seconds / first.seconds:.1f} times the time"
    result["growth"] = [asdict(point) for point in found]


def _by_shape(points: Iterable[growth.Point]) -> Iterator[list[growth.Point]]:
    shape: list[growth.Point] = []
    for point in points:
        if shape and point.shape != shape[0].shape:
            yield shape
            shape = []
        shape.append(point)
    yield shape


def languageserver(options: argparse.Namespace, result: Result) -> Lines:
    """Waiting and memory of the language server."""
    yield f"language server (wall time), a training file of {server.LINES} lines"
    result["server"] = {"clean": server.session(False), "finding": server.session(True)}
    for what, measured in result["server"].items():
        for name in ("initialize", "open", "change", "fixes"):
            if name in measured:
                yield f"  {seconds(measured[name]):>9}  {what}: {_WAITS[name]}"
        for name in ("peak", "peak with fixes"):
            if measured.get(name):
                yield f"  {measured[name] / 2**20:>6.1f} MB  {what}: {name}"


_WAITS = {
    "initialize": "process start to the answer to initialize",
    "open": "didOpen to publishDiagnostics",
    "change": "didChange to publishDiagnostics",
    "fixes": "codeAction to its answer",
}


def edited(options: argparse.Namespace, result: Result) -> Lines:
    """Re-analysis after an edit."""
    fresh, found = edits.measure()
    waits = server.typing()
    middle = statistics.median(edit.seconds for edit in found)
    result["edits"] = {**fresh, "places": {e.place: {"analysis": e.seconds, "wait": waits[e.place]} for e in found}}
    lines = edits.FILE.read_text(encoding="utf-8").count("\n")
    yield f"re-analysis after an edit of one line, a training script of {lines} lines"
    yield f"  {seconds(fresh['parse']):>9}  ast.parse"
    if options.torchfix.exists():
        result["edits"]["torchfix"] = other = torchfix.alone(options.torchfix, edits.FILE.read_text(encoding="utf-8"))
        yield f"  {seconds(other):>9}  TorchFix (a process of its own)"
    yield f"  {seconds(fresh['fresh']):>9}  analysis of the file anew"
    yield from table(
        ("analysis", "didChange to publishDiagnostics", "edited"),
        ((seconds(edit.seconds), seconds(waits[edit.place]), edit.place) for edit in found),
    )
    verdict = "reached" if middle < edits.AIM else "missed"
    waited = seconds(statistics.median(waits.values()))
    yield f"  median {seconds(middle)} (aim {seconds(edits.AIM)}: {verdict}), {waited} waited"
    yield f"re-analysis after an edit of any line that is executed, {edits.LINES} in each script"
    scripts = list(edits.spread())
    result["edits"]["lines"] = [asdict(script) for script in scripts]
    every = [taken for script in scripts for taken in script.edited]
    yield from table(
        ("median", "p90", "under the aim", "anew", "lines", "script"),
        ((*_spread(script.edited), seconds(script.fresh), str(script.lines), script.name) for script in scripts),
    )
    median, tail, under = _spread(every)
    verdict = "reached" if statistics.median(every) < edits.AIM else "missed"
    yield f"  median {median} (aim {seconds(edits.AIM)}: {verdict}), p90 {tail}, {under} under the aim"


def _spread(taken: Sequence[float]) -> tuple[str, str, str]:
    under = sum(one < edits.AIM for one in taken) / len(taken)
    return seconds(statistics.median(taken)), seconds(percentile(taken, 0.9)), f"{under:.0%}"


def rival(options: argparse.Namespace, result: Result) -> Lines:
    """TorchFix over the same files."""
    if not options.torchfix.exists():
        result["torchfix"] = None
        yield f"TorchFix: skipped, {options.torchfix} is not there (`make bench` installs it)"
        return
    paths = [str(path) for path, _ in ratio.torch_files(options.folders)]
    result["torchfix"] = found = torchfix.compare(options.torchfix, paths)
    yield f"TorchFix {found['version']} over {found['files']} files, one process each, best of {torchfix.RUNS} in turns"
    yield f"  {seconds(found['torchfix']):>9}  torchfix --select ALL"
    for name in ("tapelint", "tapelint without fixes"):
        faster = found["torchfix"] / found[name]
        verdict = "reached" if faster >= AIM else "missed"
        yield f"  {seconds(found[name]):>9}  {name}: {faster:.1f} times as fast (aim {AIM}: {verdict})"


def editing(options: argparse.Namespace, result: Result) -> Lines:
    """Whole sessions of an editor."""
    yield "sessions with the language server (processor time in ms, median/p95; waits: clock), real files"
    result["sessions"] = []
    for path, root in sessions.listed(options.folders[0]):
        if not path.exists():
            yield f"  skipped, not there: {path}"
            continue
        costs = sessions.measure(path, root)
        result["sessions"].append(asdict(costs))
        yield from table(sessions.HEAD, [tuple(costs.row())])


def beside(options: argparse.Namespace, result: Result) -> Lines:
    """The same edits in other language servers."""
    yield f"edits in language servers (processor time in ms, median/p95): {', '.join(others.versions(options.servers))}"
    result["others"] = []
    for path, root in sessions.listed(options.folders[0]):
        found = list(others.measure(path, root, options.servers)) if path.exists() else []
        result["others"] += [{"server": name, **asdict(costs), "shown": shown} for name, costs, shown in found]
        yield from table(others.HEAD, [tuple(others.row(*each)) for each in found])


def cold_run(options: argparse.Namespace, result: Result) -> Lines:
    """Many files, from cold."""
    with thousand.checked_out(options.folders[0], options.every) as paths:
        yield f"a cold run over {len(paths)} training files (processor time)"
        runs = {f"tapelint, jobs {jobs}": thousand.check(paths, jobs, "pylint") for jobs in (1, 2)}
        runs["tapelint with fixes"] = thousand.check(paths, 1, "json")
        if options.torchfix.exists():
            runs["torchfix --select ALL"] = thousand.torchfix(options.torchfix.absolute(), paths)
        each = thousand.spread(paths, options.worst)
    result["thousand"] = {"runs": {name: asdict(cost) for name, cost in runs.items()}, "files": asdict(each)}
    for name, cost in runs.items():
        yield f"  {seconds(cost.seconds):>9}  {cost.peak / 2**20:4.0f} MB  {name}"
    yield f"  a file: median {seconds(each.median)}, p90 {seconds(each.p90)}, p99 {seconds(each.p99)}"
    for path, taken in each.worst.items():
        yield f"  {seconds(taken):>9}  {path}"


PARTS: dict[str, Callable[[argparse.Namespace, Result], Lines]] = {
    "files": files,
    "rules": rules,
    "cold": starts,
    "growth": sizes,
    "edits": edited,
    "server": languageserver,
    "torchfix": rival,
}
ON_REQUEST: dict[str, Callable[[argparse.Namespace, Result], Lines]] = {
    "sessions": editing,
    "others": beside,
    "thousand": cold_run,
}
"""Parts that are measured only where they are asked for."""


def seconds(value: float) -> str:
    """A duration in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.{2 if value < 10 * size else 1}f} {unit}"
    return f"{value * 1e6:.0f} us"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Lines:
    """Columns aligned to the right, the last one to the left."""
    cells = [list(head), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    for row in cells:
        *numbers, text = row
        yield ("  " + "  ".join(cell.rjust(width) for cell, width in zip(numbers, widths)) + "  " + text).rstrip()


def main() -> int:
    """Measure what is asked for and print it; the exit status."""
    collect_rarely()  # as the command and the server do
    parser = argparse.ArgumentParser(prog="bench", description="Measure tapelint.")
    parser.add_argument("folders", nargs="*", type=Path, default=[Path("examples")], metavar="FOLDER")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument(
        "--only", action="append", choices=PARTS | ON_REQUEST, help="measure this part only (may be repeated)"
    )
    parser.add_argument("--worst", type=int, default=5, metavar="N", help="how many of the slowest files to list")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="of the thousand files every Nth only")
    parser.add_argument("--torchfix", type=Path, default=Path(".venv-torchfix/bin/torchfix"), metavar="PROGRAM")
    parser.add_argument("--servers", type=Path, default=Path(".venv-servers/bin"), metavar="FOLDER")
    parser.add_argument("--where", type=Path, metavar="FILE", help="show where the time of one file goes")
    options = parser.parse_args()
    if missing := [str(path) for path in (*options.folders, *filter(None, [options.where])) if not path.exists()]:
        parser.error(f"not there: {', '.join(missing)}")
    if options.where:
        for line in where.report(options.where):
            print(line)
        return 0
    result: Result = {"machine": machine(), "folders": [str(folder) for folder in options.folders]}
    if not options.json:
        print(result["machine"])
    for name, part in (PARTS | ON_REQUEST).items():
        if name not in (options.only or PARTS):
            continue
        for line in part(options, result):
            if not options.json:
                print(line, flush=True)
    if options.json:
        print(json.dumps(result, indent=2))
    return 1 if result.get("imported") else 0


if __name__ == "__main__":
    sys.exit(main())
