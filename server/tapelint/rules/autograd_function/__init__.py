"""TL5xx: subclasses of `torch.autograd.Function`."""
