"""Edits of a call of backward or grad, and of its root."""
