"""The base of models, by its other name."""

from __future__ import annotations

from composer import ComposerModel

__all__ = ["ComposerModel"]
