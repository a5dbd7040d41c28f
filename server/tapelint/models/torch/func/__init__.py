"""Models of `torch.func`."""
