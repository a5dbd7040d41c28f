"""Edits of what stands around an optimizer's step."""
