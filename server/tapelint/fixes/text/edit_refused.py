"""The one way a purpose says no."""

from __future__ import annotations


class EditRefused(Exception):
    """The change cannot be made safely here; the reason is for readers of a traceback, not for users."""
