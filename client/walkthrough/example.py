"""tapelint's example: the second loss.backward() raises. Rest the mouse on it, then press Ctrl+. for the fix."""

import torch
from torch import nn

encoder = nn.Linear(8, 16)
head = nn.Linear(16, 1)
optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.01)

history = []
for step in range(10):
    x = torch.randn(32, 8)
    hidden = torch.tanh(encoder(x))
    output = head(hidden)
    if history:
        output = output + history[0].mean()
    history.append(hidden)

    loss = output.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
