"""What the configuration and the options over it say of a run: whether it fixes."""

from __future__ import annotations

from collections.abc import Mapping

from ...workspace import Config
from ..task import Fixing


def settled(config: Config, options: Mapping[str, object], is_asked: bool, is_refused: bool) -> Fixing:
    """Which fixes a run makes. ``options`` are the keys that the command line gives a value, ``is_asked``: it wants to
    see them all the same. A run that reads standard input, or writes comments or a baseline, ``is_refused`` what only a
    file says: it was not started to fix.
    """
    by_option = options.get("fix") or options.get("fix-only")
    is_wanted = config.fix or (config.fix_only and options.get("fix") is not False)
    if is_asked or by_option or (is_wanted and not is_refused):
        return "unsafe" if config.unsafe_fixes else "safe"
    return "no"
