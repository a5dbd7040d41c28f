"""Runs the command line in this process, with arguments, folder, variables and streams of its own, as a process would
have them. Starting Python takes most of the time of a test that lets it read ten lines.

What is about the process itself (its streams, signals, rights, start) is tested with ``tests/forked.py``.
"""

from __future__ import annotations

import contextlib
import gc
import io
import logging
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from unittest import mock


def run(*arguments: str, cwd: Path, env: Mapping[str, str], stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    """What ``tapelint`` prints with these arguments, given ``stdin``, and its exit status."""
    from tapelint.cli import main
    from tapelint.cli.file_check import begin_run

    given = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    begin_run()  # no file or configuration was read before
    with (
        _restored(cwd),
        mock.patch.multiple(sys, argv=["tapelint", *arguments], stdin=given, stdout=out, stderr=err),
        mock.patch.dict(os.environ, env, clear=True),
    ):
        try:
            main(_serve)
        except SystemExit as end:
            status = end.code
    assert isinstance(status, int)
    texts = [stream.buffer.getvalue().decode() for stream in (out, err)]
    return subprocess.CompletedProcess(["tapelint", *arguments], status, *texts)


def _serve() -> None:
    raise AssertionError("a server needs a process of its own")


@contextlib.contextmanager
def _restored(cwd: Path) -> Iterator[None]:
    """In the folder ``cwd``; afterwards all is as before that a command sets for its process."""
    folder, thresholds, root = os.getcwd(), gc.get_threshold(), logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers = []  # a log of the command takes the place of others, and closes them
    os.chdir(cwd)
    try:
        with warnings.catch_warnings():
            yield
    finally:
        os.chdir(folder)
        gc.set_threshold(*thresholds)
        root.handlers, root.level = handlers, level
        logging.getLogger("tapelint").manager._clear_cache()  # type: ignore[no-untyped-call]
