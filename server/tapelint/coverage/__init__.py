"""Qualified silence: which calls of ``backward`` in a file were followed, and why the others were not."""

from __future__ import annotations

from .causes import BackwardCall, Cause, Coverage, Following, coverage, explained

__all__ = ["BackwardCall", "Cause", "Coverage", "Following", "coverage", "explained"]
