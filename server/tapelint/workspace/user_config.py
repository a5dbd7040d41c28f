"""The user's own configuration, which counts for what no project has one for. It lies where ruff looks for its own:

$XDG_CONFIG_HOME/tapelint/tapelint.toml     ~/.config where that variable names no absolute path
%APPDATA%\\tapelint\\tapelint.toml            on Windows
"""

from __future__ import annotations

import os
from pathlib import Path


def user_folder() -> Path | None:
    """The folder of the user's configuration, whether it is there or not; None where the user has no home."""
    variable, default = ("APPDATA", "AppData/Roaming") if os.name == "nt" else ("XDG_CONFIG_HOME", ".config")
    named = os.environ.get(variable, "")
    if os.path.isabs(named):
        return Path(named, "tapelint")
    home = os.path.expanduser("~")
    return Path(home, default, "tapelint") if os.path.isabs(home) else None
