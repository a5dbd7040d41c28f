"""``python -m tools.fuzz --seed 1 --count 500``: compare, shrink what differs, count."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

SERVER = Path(__file__).resolve().parents[2] / "server"
sys.path.insert(0, str(SERVER))

import torch  # noqa: E402
from tools.fuzz.judge import Verdict, judge  # noqa: E402
from tools.fuzz.shrink import shrunk  # noqa: E402
from tools.fuzz.statements import PREAMBLE, program  # noqa: E402

WRONG = ("false alarm", "otherwise", "silent")


def main() -> int:
    arguments = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    arguments.add_argument("--seed", type=int, default=1, help="of the first program; the next has the next")
    arguments.add_argument("--count", type=int, default=500, help="how many programs")
    arguments.add_argument("--minutes", type=float, default=0, help="stop after so long, whatever the count")
    arguments.add_argument("--show", type=int, default=10, help="how many disagreements to shrink and print")
    arguments.add_argument("--only", choices=WRONG, help="shrink and print disagreements of one sort")
    arguments.add_argument("--others", action="store_true", help="print the errors that are none of ours")
    chosen = arguments.parse_args()
    torch.set_num_threads(1)

    began, counts, real, shown = time.monotonic(), Counter(), Counter(), 0
    for seed in range(chosen.seed, chosen.seed + chosen.count):
        if chosen.minutes and time.monotonic() - began > chosen.minutes * 60:
            break
        text = program(seed)
        verdict = judge(text)
        counts[verdict.sort, bool(verdict.real.kind)] += 1
        real[verdict.real.kind or "runs through"] += 1
        if chosen.others and verdict.sort in ("other error", "invalid"):
            print(f"seed {seed}: line {verdict.real.row}: {verdict.real.message}")
        if verdict.sort in WRONG and chosen.only in (None, verdict.sort) and shown < chosen.show:
            shown += 1
            show(seed, text, verdict)
    summary(counts, real, time.monotonic() - began)
    return 1 if any(counts[sort, raises] for sort in WRONG for raises in (True, False)) else 0


def show(seed: int, text: str, verdict: Verdict) -> None:
    """Shrink a disagreement and print what is left of it."""
    small = shrunk(text, lambda t: judge(t).key == verdict.key)
    after = judge(small)
    print(f"--- seed {seed}: {after.sort}")
    print(small.removeprefix(PREAMBLE), end="")
    rows = small.splitlines()
    print(f"    PyTorch: {after.real}" + (f": {rows[after.real.row - 1].strip()}" if after.real.kind else ""))
    for outcome in after.said or ("says nothing",):
        where = f": {rows[outcome.row - 1].strip()}" if not isinstance(outcome, str) else ""
        print(f"    tapelint: {outcome}{where}")
    if after.unsure:
        print(f"    tapelint is unsure: {after.unsure}")
    sys.stdout.flush()


def summary(counts: Counter, real: Counter, seconds: float) -> None:
    total = sum(counts.values())
    ours = total - real["other"]
    raising = ours - real["runs through"]
    print(f"{total} programs in {seconds:.0f} s; {real['other']} raise something else and are left out")
    print(
        f"{raising} raise: "
        + ", ".join(f"{n} {k}" for k, n in real.most_common() if k not in ("other", "runs through"))
    )
    print(
        f"  the same error at the same line {counts['agree', True]}, otherwise {counts['otherwise', True]}, "
        f"silent {counts['silent', True]}, unknown {counts['unknown', True]}"
    )
    print(f"{real['runs through']} run through:")
    print(
        f"  silent {counts['agree', False]}, false alarms {counts['false alarm', False]}, "
        f"unknown {counts['unknown', False]}"
    )


if __name__ == "__main__":
    sys.exit(main())
