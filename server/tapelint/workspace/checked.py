"""Which files are a project's own: what stands in them is reported there.

project/train.py                  the file that is checked
project/nets/unet.py              its own: below the same root, and no configuration leaves it out
project/.venv/..., node_modules   other people's
elsewhere/common.py               found through `sys.path`, outside of the project
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from .config import Config, load
from .files import is_skipped
from .keys import ConfigError
from .resolver import Resolver


def checked_as(path: str, resolver: Resolver, main: str, override: Mapping[str, tuple[str, ...]]) -> Config | None:
    """The configuration, with the selectors of the command line, that counts for a file which ``main`` imports; None
    where that is none of its project, or excluded.
    """
    root, place = resolver.root(main), os.path.abspath(path)
    if not place.startswith(root.rstrip(os.sep) + os.sep):
        return None
    folder = os.path.dirname(place)
    while len(folder) > len(root):
        if is_skipped(Path(folder).parent, os.path.basename(folder)):
            return None
        folder = os.path.dirname(folder)
    try:
        config = load(Path(path))
    except ConfigError:
        return None
    return None if config.excludes(path) else config.overridden(override)
