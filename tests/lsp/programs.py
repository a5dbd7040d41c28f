"""The programs the editor tests type."""

from __future__ import annotations

HEAD = "import torch\n\nx = torch.ones(3, requires_grad=True)\n"

# ``exp`` keeps its result for the backward pass, so the update on row 5 (4 in the protocol) breaks it.
BAD = HEAD + "y = x.exp()\ny += 1\ny.sum().backward()\n"
BAD_LINE = 4

# A product with a constant keeps nothing of its result.
GOOD = HEAD + "y = x * 2\ny += 1\ny.sum().backward()\n"

# The second loss's graph was freed by the first: to detach one of them is a cure that gives up a gradient.
SHARED = HEAD + "y = x.exp()\n(y * 2).sum().backward()\n(y * 3).sum().backward()\n"
