"""Models of `torch.autograd`: backward calls, gradients, grad modes, hooks, checkpoints."""
