"""``tapelint trace``: how the engine executed a file, statement by statement, and why.

    script
       3 | w = torch.ones(3, requires_grad=True)
         > w: leaf, requires grad, version 0

The file is executed abstractly once more, with an observer; what is reported of it does not change by that.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import analysis
from ..analysis.inputs import Inputs
from ..autograd import Facts
from ..source import Source
from .passages import Passage, render
from .tracer import Tracer

__all__ = ["Passage", "render", "trace"]


def trace(
    source: Source,
    inputs: Inputs = Inputs(),  # noqa: B008 (frozen)
    line: int | None = None,
) -> Iterator[str]:
    """The lines of a trace of ``source``, or of what was executed of one ``line`` of it."""
    machine = analysis.made(source, Facts(), inputs)
    tracer = Tracer(machine, source)
    analysis.executed(machine)
    if line is not None and not any(passage.first <= line <= passage.last for passage in tracer.passages):
        return iter((f"line {line}: no statement was executed there",))
    return render(tracer.passages, line)
