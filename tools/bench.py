"""Time what users wait for: a cold start, one keystroke's worth of analysis, a large file.

    make bench
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

_PROGRAM = """\
import torch
from torch import nn

model{n} = nn.Linear(4, 4)
optimizer{n} = torch.optim.SGD(model{n}.parameters(), lr=0.1)
for step in range(10):
    optimizer{n}.zero_grad()
    loss = model{n}(torch.randn(2, 4)).pow(2).mean()
    loss.backward()
    optimizer{n}.step()
"""


def best_of(times: int, run: Callable[[], object]) -> float:
    """The shortest time ``run`` took, in seconds."""
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        run()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def cold(*arguments: str) -> Callable[[], object]:
    """A run of the command line in a new process."""
    return lambda: subprocess.run([sys.executable, "-m", "tapelint", *arguments], capture_output=True, check=False)


def main() -> None:
    """Print one line per measurement."""
    from tapelint.analysis import analyse
    from tapelint.source import parse

    small, large = _PROGRAM.format(n=""), "".join(_PROGRAM.format(n=n) for n in range(260))
    rows = large.count("\n")
    with tempfile.TemporaryDirectory() as folder:
        file, plain = Path(folder, "train.py"), Path(folder, "plain.py")
        file.write_text(small, encoding="utf-8")
        plain.write_text("print('no tensors here')\n", encoding="utf-8")
        print(f"cold start, version            {best_of(5, cold('version')):8.3f} s")
        print(f"cold start, a file without it  {best_of(5, cold('check', str(plain))):8.3f} s")
        print(f"cold start, a small loop       {best_of(5, cold('check', str(file))):8.3f} s")
    print(f"warm, a small loop             {best_of(5, lambda: analyse(small)):8.3f} s")
    print(f"parse, {rows:,} lines            {best_of(3, lambda: parse(large)):8.3f} s")
    print(f"parse, the last line unfinished{best_of(3, lambda: parse(large + 'loss = f(')):8.3f} s")
    print(f"analyse, {rows:,} lines          {best_of(1, lambda: analyse(large)):8.3f} s")


if __name__ == "__main__":
    main()
