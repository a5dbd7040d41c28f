"""Edits that make a tensor a leaf, or ask for its gradient."""
