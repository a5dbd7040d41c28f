"""What the gradient of a layer depends on, measured like that of an op: the layer as a function of its weights.

linear/train: input<weight* weight<input*     the input's gradient does not depend on the input
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tools.ops import layers
from tools.ops.probe import Arguments, Call
from tools.ops.quiet import quiet
from tools.ops.second import Dependence, measure, words
from torch import Tensor

from tapelint.ops.layers import layer, layer_names
from tapelint.ops.schema import Op


def lines() -> Iterator[str]:
    """One for each row of a layer, if all that its gradients flow to are single tensors."""
    for name in sorted(layer_names()):
        known = layer(name)
        for op, calls in layers.variants(known) if known is not None else ():
            seen = [found for call, arguments in calls if (found := _measured(op, call, arguments)) is not None]
            if seen:
                yield f"{name.lower()}/{op.overload}: {' '.join(words(seen))}".strip()


def _measured(op: Op, call: Call, arguments: Arguments) -> Dependence | None:
    differentiable = {name: value for name, value in arguments.items() if name in op.flows and value is not None}
    if not all(isinstance(value, Tensor) and value.numel() for value in differentiable.values()):
        return None
    slots = {name: name for name in differentiable}
    try:
        with quiet():
            return measure(op, _over(call, arguments), (), differentiable, slots)
    except Exception:  # whatever PyTorch refuses is of no use as a sample
        return None


def _over(call: Call, arguments: Arguments) -> Callable[..., Any]:
    """The call with some of the arguments given anew."""
    return lambda **fresh: call({**arguments, **fresh})
