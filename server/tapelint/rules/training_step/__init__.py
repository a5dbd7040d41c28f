"""TL4xx: the order of a training step."""
