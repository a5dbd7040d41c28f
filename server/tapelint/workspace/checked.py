"""Which files are a project's own: what stands in them is reported there.

project/train.py                  the file that is checked
project/nets/unet.py              its own: below the same root, and no configuration leaves it out
project/.venv/..., node_modules   other people's
elsewhere/common.py               found through `sys.path`, outside of the project
"""

from __future__ import annotations

import os
from pathlib import Path

from .config import Config
from .files import is_environment, is_excluded_by_name
from .given import Given
from .keys import ConfigError
from .resolver import Resolver


def checked_as(path: str, resolver: Resolver, main: str, given: Given) -> Config | None:
    """The configuration, with what the command line says, that counts for a file which ``main`` imports; None where
    that is none of its project, or excluded.
    """
    return checked_below(path, resolver.root(main), given)


def checked_below(path: str, root: str, given: Given) -> Config | None:
    """The same for a file that a project imports whose root is an absolute path."""
    place = os.path.abspath(path)
    if not place.startswith(root.rstrip(os.sep) + os.sep):
        return None
    folders = [folder for folder in map(str, Path(place).parents) if len(folder) > len(root)]
    if any(map(is_environment, folders)):
        return None
    try:
        config = given.config(Path(path))
    except ConfigError:
        return None
    is_usual = not config.root and any(map(is_excluded_by_name, folders))  # the run may be elsewhere
    return None if is_usual or config.excludes(path) else config
