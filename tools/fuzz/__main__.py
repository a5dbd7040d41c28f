"""``python -m tools.fuzz --seed 1 --count 500``: compare, count, shrink what differs.

The exit status is 1 where there is a false alarm, or where the agreement is below what must be reached.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from pathlib import Path

SERVER = Path(__file__).resolve().parents[2] / "server"
sys.path.insert(0, str(SERVER))

import torch  # noqa: E402
import torch._dynamo  # noqa: E402 (what optimizers and transforms import later takes seconds, in each process)
from tools.fuzz.catalogue import by_result  # noqa: E402
from tools.fuzz.judge import Verdict  # noqa: E402
from tools.fuzz.pool import Judged, judged, shrunk_all  # noqa: E402
from tools.fuzz.program import PREAMBLE  # noqa: E402
from tools.fuzz.tally import SORTS, Tally  # noqa: E402


def main() -> int:
    arguments = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    arguments.add_argument("--seed", type=int, default=1, help="of the first program; the next has the next; 0: any")
    arguments.add_argument("--count", type=int, default=500, help="how many programs")
    arguments.add_argument("--time", type=float, default=0, help="stop after so many seconds, whatever the count")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    arguments.add_argument("--show", type=int, default=10, help="how many disagreements to shrink and print")
    arguments.add_argument("--only", choices=SORTS, help="shrink and print disagreements of one sort")
    arguments.add_argument("--feature", help="only programs with this feature, by its name in the report")
    arguments.add_argument("--brief", action="store_true", help="print none of them where the agreement is reached")
    arguments.add_argument("--scatter", type=float, default=0, help="percent by which a small sample may fall short")
    chosen = arguments.parse_args()
    torch.set_num_threads(1)
    seed = chosen.seed or random.SystemRandom().randrange(1, 10**9)
    print(f"seed {seed} (PyTorch {torch.__version__})", flush=True)

    by_result()
    began, tally, wrong = time.monotonic(), Tally(), []
    for item in judged(seed, chosen.count, chosen.jobs, chosen.feature):
        tally.add(item)
        if item.verdict.sort in SORTS and chosen.only in (None, item.verdict.sort):
            wrong.append(item)
        if chosen.time and time.monotonic() - began > chosen.time:
            break
    seconds = time.monotonic() - began
    print(tally)
    rate = tally.all.programs / seconds
    print(f"{rate:.0f} programs a second ({seconds:.0f} s, {chosen.jobs} processes)", flush=True)
    is_reached = tally.reached(chosen.scatter)
    wrong.sort(key=lambda item: (SORTS.index(item.verdict.sort), item.seed))
    for item, text, after in shrunk_all([] if chosen.brief and is_reached else wrong[: chosen.show], chosen.jobs):
        show(item, text, after)
    return 0 if is_reached else 1


def show(item: Judged, text: str, after: Verdict) -> None:
    """What is left of a disagreement."""
    rows = text.splitlines()
    print(f"--- seed {item.seed}: {after.sort}")
    print(text.removeprefix(PREAMBLE), end="")
    for who, said in (("PyTorch", after.real), ("tapelint", after.said)):
        for outcome in sorted(said) or ("runs through" if who == "PyTorch" else "says nothing",):
            where = f": {rows[outcome.row - 1].strip()}" if not isinstance(outcome, str) else ""
            print(f"    {who}: {outcome}{where}")
    if after.unsure:
        print(f"    tapelint is unsure: {after.unsure}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
