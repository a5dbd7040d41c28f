"""TL2xx: tensors written in place."""
