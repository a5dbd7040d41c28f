"""One recording of an execution, of which hovers, pictures and the coverage of backward calls are views."""

from __future__ import annotations

from .record import Recording, Sight, Walk

__all__ = ["Recording", "Sight", "Walk"]
