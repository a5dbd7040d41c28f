"""What Python syntax means: one transfer function for each kind of node."""
