"""A regressor with a memory: every step appends its hidden activations to a list and reads the oldest ones back.

The first step trains. On the second, PyTorch says:

    RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors after they
    have already been freed). ...

The list holds tensors with their history, so from the second step on the loss depends on the graph of the first step, which
the first backward freed. Append `h.detach()`. (`retain_graph=True` would only change the error: the optimizer has
written the weights that the old graph saved.)
"""

import torch
import torch.nn.functional as F
from torch import nn


class MemoryNet(nn.Module):
    def __init__(self, inputs=6, hidden=24, outputs=2, slots=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.gate = nn.Linear(2 * hidden, hidden)
        self.decoder = nn.Linear(hidden, outputs)
        self.slots = slots
        self.memory = []

    def read(self, h):
        if not self.memory:
            return torch.zeros_like(h)
        return torch.stack(self.memory).mean(dim=0)

    def write(self, h):
        self.memory.append(h)
        if len(self.memory) > self.slots:
            self.memory.pop(0)

    def forward(self, x):
        h = self.encoder(x)
        recalled = self.read(h)
        gate = torch.sigmoid(self.gate(torch.cat([h, recalled], dim=1)))
        self.write(h)
        return self.decoder(gate * h + (1 - gate) * recalled)


class Meter:
    def __init__(self):
        self.values = []

    def update(self, value):
        self.values.append(value)

    @property
    def mean(self):
        return sum(self.values) / max(len(self.values), 1)


def stream(steps, batch=16, inputs=6):
    drift = torch.zeros(batch, inputs)
    for _ in range(steps):
        drift = 0.9 * drift + 0.1 * torch.randn(batch, inputs)
        x = drift + 0.3 * torch.randn(batch, inputs)
        y = torch.stack([x.sum(dim=1), x.pow(2).mean(dim=1)], dim=1)
        yield x, y


def main():
    model = MemoryNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.5)
    meter = Meter()
    for step, (x, y) in enumerate(stream(steps=20)):
        prediction = model(x)
        loss = F.smooth_l1_loss(prediction, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # error: [graph-carried-across-iterations] "memory" # torch: raises "backward through the graph a second time"
        optimizer.step()
        scheduler.step()
        meter.update(loss.item())
        if step % 5 == 0:
            print(f"step {step}: mean loss {meter.mean:.4f}")


if __name__ == "__main__":
    main()
