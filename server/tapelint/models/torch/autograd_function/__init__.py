"""Subclasses of `torch.autograd.Function` that the program defines."""
