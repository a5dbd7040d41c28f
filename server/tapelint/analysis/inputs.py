"""What an analysis depends on beside the text."""

from __future__ import annotations

from collections.abc import Callable

from ..engine.limits import Limits
from ..frozen import frozen
from ..modules.shared_modules import SharedModules
from ..stubs import Resolve
from ..workspace.config import Config
from .elsewhere import ConfigOf
from .used_elsewhere import Users


@frozen
class Inputs:
    """The configuration, the other files of the project, and the budgets; see ``analyse``."""

    config: Config = Config()
    # how imports are resolved
    resolve: Resolve | None = None
    # whether another file may import the one at a path
    is_imported: Callable[[str], bool] | None = None
    limits: Limits = Limits()
    config_of: ConfigOf | None = None
    focus: frozenset[str] = frozenset()
    # which other files use the one at a path
    users: Users | None = None
    # modules that other analyses have executed, which are taken over; what is reported does not depend on them
    shared: SharedModules | None = None
