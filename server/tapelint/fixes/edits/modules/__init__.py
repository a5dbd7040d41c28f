"""Edits that register parameters and modules."""
