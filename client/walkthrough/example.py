"""Each step adds what the first one saw."""

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
    # The second time this raises. Rest the mouse on it;
    # then press Ctrl+. (Mac: Cmd+.) for a fix.
    loss.backward()
    optimizer.step()
