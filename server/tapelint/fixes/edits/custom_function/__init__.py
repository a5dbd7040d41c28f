"""Edits of a `torch.autograd.Function` of the program."""
