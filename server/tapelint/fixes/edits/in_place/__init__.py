"""Edits that replace an in-place write, or write to a copy."""
