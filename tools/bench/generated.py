"""Programs made for measuring: as long, or as deeply nested, as wanted, and none with a hazard unless asked for."""

from __future__ import annotations

_HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""

SMALL = (
    _HEAD
    + """\
for step in range(10):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 8)).pow(2).mean()
    loss.backward()
    optimizer.step()
"""
)

PLAIN = "print('no tensors here')\n"

_SECTION = '''

class Block{n}(nn.Module):
    """Two layers around a residual connection."""

    def __init__(self, width=16, dropout=0.1):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.first = nn.Linear(width, 4 * width)
        self.second = nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        h = self.norm(x)
        h = F.gelu(self.first(h))
        h = self.dropout(self.second(h))
        return x + h


def evaluate{n}(model, batches):
    model.eval()
    losses = []
    with torch.no_grad():
        for x, y in batches:
            losses.append(F.mse_loss(model(x), y))
    model.train()
    return torch.stack(losses).mean()


def train{n}(epochs=3, width=16):
    model = nn.Sequential(Block{n}(width), Block{n}(width), nn.Linear(width, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    batches = [(torch.randn(8, width), torch.randn(8, 1)) for _ in range(10)]
    total = 0.0
    for epoch in range(epochs):
        for step, (x, y) in enumerate(batches):
            loss = F.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
            if step % 5 == 0:
                print(epoch, step, total / (step + 1))
        print(epoch, evaluate{n}(model, batches))


train{n}()
'''

_HAZARD = """

kept = []
for step in range(10):
    kept.append(torch.tanh(model(torch.randn(4, 8))))
    torch.stack(kept).mean().backward()
"""


def training_file(lines: int, has_hazard: bool = False) -> str:
    """A training script of about so many lines: models, training loops, evaluation, nothing repeated but the text."""
    tail = _HAZARD if has_hazard else ""
    sections = max(1, round((lines - (_HEAD + tail).count("\n")) / _SECTION.count("\n")))
    return _HEAD + "".join(_SECTION.format(n=n) for n in range(sections)) + tail


def straight(statements: int) -> str:
    """One tensor through so many statements, then one backward: the graph grows with the program."""
    lines = [f"h{n + 1} = torch.tanh(h{n}) * 0.5" for n in range(statements)]
    head = ["import torch", "h0 = torch.randn(4, 8, requires_grad=True)"]
    return "\n".join([*head, *lines, f"h{statements}.sum().backward()", ""])


def wide(ops: int) -> str:
    """So many ops, ten in every statement: what an op costs when statements cost little."""
    product = " * ".join(["h"] + ["x"] * 10)
    lines = [f"h = {product}" for _ in range(max(1, ops // 10))]
    head = ["import torch", "x = torch.randn(4, requires_grad=True)", "h = x + 1"]
    return "\n".join([*head, *lines, "h.sum().backward()", ""])


def branched(statements: int) -> str:
    """So many statements in branches whose tests are not known, each merged before the next."""
    branches = [
        f"if flag{n}:\n    note = {n}\nelse:\n    note = torch.zeros(4)\ny = torch.tanh(x) + y\n"
        for n in range(max(1, statements // 4))
    ]
    head = "import torch\nfrom flags import *\nx = torch.randn(4, requires_grad=True)\ny = x + 1\n"
    return head + "".join(branches) + "y.sum().backward()\n"


def called(statements: int) -> str:
    """So many statements, half of them in functions, each of which is called once."""
    body = "    h = torch.exp(x)\n    return h.sum()\n\n\n"
    parts = [f"def f{n}(x):\n{body}f{n}(w).backward()\n" for n in range(max(1, statements // 4))]
    return "import torch\nw = torch.randn(4, requires_grad=True)\n" + "".join(parts)


def looped(statements: int) -> str:
    """So many statements in training loops of five one after the other: the program grows, no graph does."""
    loops = []
    for n in range(max(1, statements // 5)):
        loops.append(f"for step{n} in range(10):\n" + _body(1, f"loss{n}"))
    return _HEAD + "".join(loops)


def nested(depth: int) -> str:
    """One training step in so many loops around each other."""
    heads = "".join(f"{'    ' * level}for i{level} in range(10):\n" for level in range(depth))
    return _HEAD + heads + _body(depth, "loss")


def _body(depth: int, loss: str) -> str:
    statements = (
        f"{loss} = model(torch.randn(4, 8)).pow(2)",
        f"{loss} = {loss}.mean()",
        "optimizer.zero_grad()",
        f"{loss}.backward()",
        "optimizer.step()",
    )
    return "".join(f"{'    ' * depth}{statement}\n" for statement in statements)
