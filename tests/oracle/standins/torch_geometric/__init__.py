"""PyTorch Geometric, as far as blocks need it."""
