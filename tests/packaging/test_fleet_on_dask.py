"""``tapelint fleet --engine dask`` with a scheduler and workers of Dask's own, one of which is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SERVER = Path(__file__).resolve().parents[2] / "server"
LOOP = """import torch
w = torch.ones(3, requires_grad=True)
loss = w.exp().sum()
for _ in range(2):
    loss.backward()
"""


def test_a_worker_of_dask_that_is_killed_loses_no_record(tmp_path: Path) -> None:
    """Three workers, one of them killed while it works: each repository has its record, and has it once."""
    count = 24
    for number in range(count):
        (tmp_path / f"r{number}").mkdir()
        (tmp_path / f"r{number}" / "train.py").write_text(LOOP)
    (tmp_path / "list.txt").write_text("".join(f"{tmp_path}/r{number}\n" for number in range(count)))
    environment = {**os.environ, "PYTHONPATH": str(SERVER)}
    started: list[subprocess.Popen[Any]] = []

    def start(*arguments: str) -> subprocess.Popen[Any]:
        process = subprocess.Popen(
            [sys.executable, "-m", *arguments], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        started.append(process)
        return process

    place = tmp_path / "scheduler.json"
    try:
        start("distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(place))
        options = ("--scheduler-file", str(place), "--nthreads", "1", "--no-nanny", "--no-dashboard")
        workers = [start("distributed.cli.dask_worker", *options) for _ in range(3)]
        while not place.exists():
            time.sleep(0.1)
        address = json.loads(place.read_text())["address"]
        out = tmp_path / "out.jsonl"
        run = start(
            *("tapelint", "fleet", str(tmp_path / "list.txt"), "-o", str(out)), "--engine", "dask", "--address", address
        )
        while not out.exists() or not out.read_text():
            time.sleep(0.05)
            assert run.poll() is None
        workers[0].send_signal(signal.SIGKILL)
        assert run.wait(timeout=200) == 1
        records = [json.loads(line) for line in out.read_text().splitlines()]
        assert sorted(Path(each["repository"]).name for each in records) == sorted(f"r{n}" for n in range(count))
        assert all(found["code"] == "TL103" for each in records for file in each["files"] for found in file["findings"])
        assert [len(each["files"][0]["findings"]) for each in records] == [1] * count
    finally:
        for process in started:
            process.kill()
            process.wait()
