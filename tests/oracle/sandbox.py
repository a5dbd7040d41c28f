"""Runs one block under real PyTorch, in this process, and says what happened."""

from __future__ import annotations

import contextlib
import importlib
import io
import linecache
import os
import random
import sys
import traceback
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import pytest
import torch
from own_errors import is_own
from torch_graph import revealing

from mdreveal import in_order
from mdspec import Block, beside

torch.set_num_threads(1)

HERE = Path(__file__).resolve().parent
STANDINS = (str(HERE / "standins"), str(HERE.parents[1] / "server" / "tapelint" / "stubs" / "programs"))
"""For frameworks that are not installed: those of the tests, and those that the analyser executes in their place."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """``error`` is ``Type: message`` or empty; ``row`` is the innermost one of the block on the way to it, 0 if none.

    ``caller_row`` is the same for the block's caller. ``is_own`` if the program itself raises it (``own_errors``).
    ``warned`` are the texts of all warnings.
    """

    error: str = ""
    row: int = 0
    caller_row: int = 0
    trace: str = ""
    reveals: dict[int, str] = field(default_factory=dict)
    is_own: bool = False
    warned: tuple[str, ...] = ()


@contextlib.contextmanager
def importable(block: Block) -> Iterator[None]:
    """The stand-ins can be imported, and the files beside ``block``, from its folder and from ``src`` there, and leave
    no trace."""
    known, path = set(sys.modules), list(sys.path)
    sys.path[:0] = STANDINS
    if not block.files and not block.tests:
        try:
            yield
        finally:
            sys.path[:] = path
        return
    with beside(block) as main:
        sys.path[:0] = [str(main.parent), str(main.parent / "src")]
        importlib.invalidate_caches()
        folder = Path.cwd()
        os.chdir(main.parent)
        try:
            yield
        finally:
            os.chdir(folder)
            sys.path[:] = path
            for name, module in list(sys.modules.items()):
                if name not in known and str(getattr(module, "__file__", None)).startswith(str(main.parent)):
                    del sys.modules[name]


@dataclass
class FirstFailure:
    """A plugin of pytest that keeps the first exception with which a test, or the import of the file, has failed."""

    error: BaseException | None = None

    def pytest_exception_interact(self, call: pytest.CallInfo[object]) -> None:
        if self.error is None and call.excinfo is not None:
            self.error = call.excinfo.value


def run_tests(block: Block) -> Outcome:
    """Let pytest run a ``block`` of tests."""
    failure = FirstFailure()
    with importable(block), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        file = Path.cwd() / "test_main.py"
        file.write_text(block.program, encoding="utf-8")
        options = [
            "-q",
            "-x",
            *("-p", "no:cacheprovider"),
            *(
                "-p",
                "no:unraisableexception",
            ),  # it collects garbage, for seconds where PyTorch is loaded
            "--import-mode=importlib",
            f"--rootdir={file.parent}",
            "-c",
            os.devnull,
        ]
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # those installed here take a second
            pytest.main([*options, str(file)], plugins=[failure])
    if failure.error is None:
        return Outcome()
    trace = traceback.extract_tb(failure.error.__traceback__)
    rows = [frame.lineno for frame in trace if frame.filename == str(file)]
    error = f"{type(failure.error).__name__}: {failure.error}"
    row = rows[-1] - block.offset if rows else 0
    own = is_own(failure.error, block.program, str(file))
    return Outcome(error, row, trace="".join(traceback.format_exception(failure.error)), is_own=own)


@contextlib.contextmanager
def recorded(warned: list[str]) -> Iterator[None]:
    """The texts of all warnings go to ``warned`` and nowhere else, also those that PyTorch gives once in a process."""
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            yield
    finally:
        torch.set_warn_always(always)
        warned += [str(each.message) for each in found]


def reset_torch() -> None:
    """Put back the global switches that a program may have left otherwise."""
    torch.set_grad_enabled(True)
    torch.autograd.set_detect_anomaly(False)
    torch.set_default_dtype(torch.float32)


def run(block: Block) -> Outcome:
    """Execute ``block`` (then its caller) as ``__main__`` in a fresh namespace, with a fixed seed and silent output."""
    if block.tests:
        return run_tests(block)
    module = types.ModuleType("__main__")
    name = f"<{block.name}>"
    program = block.program
    linecache.cache[name] = (len(program), None, program.splitlines(keepends=True), name)
    seen: dict[int, list[str]] = {}
    warned: list[str] = []
    module.__dict__["reveal_graph"] = revealing(seen, name, block.offset)
    before = sys.modules.get("__main__")
    sys.modules["__main__"] = module
    torch.manual_seed(0)
    random.seed(0)
    numpy.random.seed(0)
    try:
        with importable(block), contextlib.redirect_stdout(io.StringIO()), recorded(warned):
            exec(compile(program, name, "exec"), module.__dict__)
            if block.caller:
                exec(compile(block.caller, f"{name} caller", "exec"), module.__dict__)
    except Exception as error:
        rows = {frame.filename: frame.lineno for frame in traceback.extract_tb(error.__traceback__)}
        row = rows[name] - block.offset if name in rows else 0
        trace = "".join(traceback.format_exception(error))
        said, own = f"{type(error).__name__}: {error}", is_own(error, program, name)
        return Outcome(said, row, rows.get(f"{name} caller", 0), trace, in_order(seen), own, tuple(warned))
    finally:
        reset_torch()
        sys.modules["__main__"] = before
        linecache.cache.pop(name, None)
    return Outcome(reveals=in_order(seen), warned=tuple(warned))


def complaint(block: Block) -> str:
    """Empty if PyTorch does what ``block`` says it does."""
    outcome, verdict = run(block), block.verdict
    if outcome.reveals != block.reveals:
        notes = {row: [f"reveals: {text}"] for row, text in outcome.reveals.items()}
        return f"{block.listing(notes)}\nPyTorch's graphs are others than claimed\n"
    if verdict.kind != "raises":
        return f"{block.listing({outcome.row: [outcome.error]})}\n{outcome.trace}" if outcome.error else ""
    if not outcome.error:
        return f"{block.listing({verdict.row: ['did not raise']})}\n"
    row = outcome.caller_row if verdict.in_caller else outcome.row
    if row != verdict.row or verdict.substring not in outcome.error:
        return f"{block.listing({outcome.row: ['raised here: ' + outcome.error]})}\n{outcome.trace}"
    return ""
