"""Models of `torch.optim`."""
