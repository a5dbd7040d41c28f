"""What PyTorch's functions and methods do to the state of a path."""
