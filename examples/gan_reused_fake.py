"""A small GAN on points of a ring; the fake batch is made once and used for both networks.

In the very first iteration PyTorch says:

    RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors after they
    have already been freed). ...

The discriminator's loss was computed from `fake` itself, so its backward walked on into the generator and freed the
generator's graph; the generator's own backward comes too late. The discriminator needs the numbers only: `fake.detach()`.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Generator(nn.Module):
    def __init__(self, noise=8, hidden=32):
        super().__init__()
        self.noise = noise
        self.main = nn.Sequential(
            nn.Linear(noise, hidden),
            nn.BatchNorm1d(hidden),
            nn.ReLU(inplace=True),
            nn.Linear(hidden, hidden),
            nn.ReLU(inplace=True),
            nn.Linear(hidden, 2),
        )

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.main = nn.Sequential(
            nn.Linear(2, hidden),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(hidden, hidden),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.main(x).squeeze(1)


def ring(count, batch_size):
    for _ in range(count):
        angle = torch.rand(batch_size) * 2 * math.pi
        yield torch.stack([angle.cos(), angle.sin()], dim=1) + 0.05 * torch.randn(batch_size, 2)


def discriminator_loss(real_logits, fake_logits):
    real = F.binary_cross_entropy_with_logits(real_logits, torch.ones_like(real_logits))
    fake = F.binary_cross_entropy_with_logits(fake_logits, torch.zeros_like(fake_logits))
    return real + fake


def generator_loss(fake_logits):
    return F.binary_cross_entropy_with_logits(fake_logits, torch.ones_like(fake_logits))


def train(generator, discriminator, batches):
    opt_g = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
    opt_d = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
    for step, real in enumerate(batches):
        z = torch.randn(real.size(0), generator.noise)
        fake = generator(z)

        opt_d.zero_grad()
        d_loss = discriminator_loss(discriminator(real), discriminator(fake))
        d_loss.backward()
        opt_d.step()

        opt_g.zero_grad()
        g_loss = generator_loss(discriminator(fake))
        g_loss.backward()  # error: [backward-through-freed-graph] "fake" # torch: raises "backward through the graph a second time"
        opt_g.step()

        if step % 10 == 0:
            print(f"step {step}: D {d_loss.item():.3f}, G {g_loss.item():.3f}")


def main():
    train(Generator(), Discriminator(), ring(count=30, batch_size=64))


if __name__ == "__main__":
    main()
