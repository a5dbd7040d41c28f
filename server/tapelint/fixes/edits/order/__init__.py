"""Edits that move statements."""
