"""Where the gradients of leaves come from, and which parameters no backward pass reaches."""
