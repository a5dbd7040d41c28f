"""Layers with parameters of their own, layers around the program's modules, models with a loss of their own."""

from __future__ import annotations

import torch
from torch import nn


class MessagePassing(nn.Module):
    """No parameters; ``propagate`` sums over each edge what the program's ``message`` makes of it."""

    def propagate(self, edge_index: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        sent = self.message(x[edge_index[0]])
        return torch.zeros(x.shape[0], sent.shape[1]).index_add(0, edge_index[1], sent)

    def message(self, x_j: torch.Tensor) -> torch.Tensor:
        return x_j


class GCNConv(MessagePassing):
    """A linear layer and a bias."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.lin = nn.Linear(in_channels, out_channels, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_channels))

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.propagate(edge_index, self.lin(x)) + self.bias


class GINConv(MessagePassing):
    """The program's own network over the sum of a node's neighbours."""

    def __init__(self, nn: nn.Module) -> None:
        super().__init__()
        self.nn = nn

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.nn(x + self.propagate(edge_index, x))


class GAE(nn.Module):
    """The program's encoder, and a loss over the edges."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def encode(self, *args: torch.Tensor) -> torch.Tensor:
        return self.encoder(*args)

    def recon_loss(self, z: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return -torch.log((z[edge_index[0]] * z[edge_index[1]]).sum(1).sigmoid() + 1e-15).mean()


class ARGA(GAE):
    """With a discriminator, whose loss detaches what the encoder made."""

    def __init__(self, encoder: nn.Module, discriminator: nn.Module) -> None:
        super().__init__(encoder)
        self.discriminator = discriminator

    def discriminator_loss(self, z: torch.Tensor) -> torch.Tensor:
        real, fake = self.discriminator(torch.randn_like(z)).sigmoid(), self.discriminator(z.detach()).sigmoid()
        return -torch.log(real + 1e-15).mean() - torch.log(1 - fake + 1e-15).mean()
