"""What TL201 and TL202 share: PyTorch's error, who wrote, and the story."""

from __future__ import annotations

from ...autograd.events.graph_walks import SavedTensorModified
from ...autograd.facts import Facts
from .finding import TraceStep
from .story import assumed_pass, op_name

ERROR = "one of the variables needed for gradient computation has been modified by an inplace operation"

REFUSED = "its base or another view of its base has been modified inplace"


def error(event: SavedTensorModified) -> str:
    """What PyTorch says."""
    return REFUSED if event.guarded else ERROR


def is_step(event: SavedTensorModified) -> bool:
    """Whether an optimizer wrote."""
    return event.write.by_optimizer


def in_own_backward(event: SavedTensorModified, facts: Facts) -> bool:
    """Whether the node's own backward, which the program defines, wrote what the node had saved."""
    return facts.memory.inside.get(event.write.stamp) is event.node


def story(event: SavedTensorModified, saves: str, writes: str) -> tuple[TraceStep, ...]:
    """Saved, written, needed: ``saves`` and ``writes`` are sentences, to which the versions are added."""
    node, saved, write = event.node, event.saved, event.write
    needs = f"needs version {saved.version}"
    return (
        TraceStep(
            node.created_at.node,
            f"{saves} (version {saved.version})",
            node.created_at,
            short=f"saved by {op_name(node)}, version {saved.version}",
        ),
        TraceStep(
            write.point.node,
            f"{writes} (version {write.version})",
            write.point,
            short=f"written, version {write.version}",
        ),
        TraceStep(event.point.node, _needing(event, needs), event.point, short=needs),
    )


def _needing(event: SavedTensorModified, needs: str) -> str:
    """Which pass needs what was saved: where a function stands for its caller, no call in its line goes backward."""
    caller = assumed_pass(event.point.node)
    passed = (
        f"{caller} runs that of {op_name(event.node)}, which" if caller else f"The backward of {op_name(event.node)}"
    )
    return f"{passed} {needs}"
