"""``tapelint trace``: how the engine executed a file, statement by statement, and why.

    script
       3 | w = torch.ones(3, requires_grad=True)
         > w: leaf, requires grad, version 0
    findings
       5 | y += 1
         > reported: TL201 warning; it rests on: `--amp` is given

The file is executed abstractly once more, with an observer; what is reported of it does not change by that.
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import analysis
from ..analysis.elsewhere import Configs
from ..analysis.execution import Inputs
from ..analysis.rule_listener import RuleListener
from ..autograd import Facts
from ..source import Source
from .tracer import FINDINGS, Passage, Tracer, judged_passages, render

__all__ = ["FINDINGS", "Passage", "render", "trace"]


def trace(
    source: Source,
    inputs: Inputs = Inputs(),  # noqa: B008 (frozen)
    line: int | None = None,
) -> Iterator[str]:
    """The lines of a trace of ``source``, or of what was executed of one ``line`` of it."""
    machine = analysis.made(source, Facts(), inputs)
    tracer = Tracer(machine, source)
    machine.facts.events.subscribe(RuleListener(machine, inputs.config).hear)
    steps = analysis.executed(machine)
    if line is not None and not any(passage.first <= line <= passage.last for passage in tracer.passages):
        return iter((f"line {line}: no statement was executed there",))
    files, noted = analysis.judged(machine, source, inputs, steps, Configs(inputs.config_of))
    return render([*tracer.passages, *judged_passages(files, noted, inputs.config, line)], line)
