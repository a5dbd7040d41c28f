"""Models of `torch.nn`: layers, modules and what they register."""
