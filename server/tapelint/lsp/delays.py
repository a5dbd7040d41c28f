"""How long the server waits, and lets the user wait; all in seconds."""

from __future__ import annotations

from ..frozen import frozen


@frozen
class Delays:
    """Times that tests shorten and that nothing else changes."""

    # Without an edit, before a text is analysed: at most, and at least where the last analysis was fast.
    edit: float = 0.15
    shortest_edit: float = 0.02
    # Without an edit, before what the next line may answer is said.
    pause: float = 2.0
    # Before work that nobody waits for.
    idle: float = 0.1
    # Without a change, before files that are not open are checked.
    closed_files: float = 0.5
    # Without work, before there is time to look for garbage.
    garbage: float = 2.0
    # For fixes that the editor asks for by itself, where the user has asked, and for all of a file.
    fixes: float = 1.0
    fixes_asked_for: float = 5.0
    many_fixes: float = 20.0
    # For the client to say its settings, and for the server to start.
    settings: float = 2.0
    start: float = 4.0
    # Before the status says that an analysis is running, and before a progress bar is shown.
    status: float = 0.4
    progress: float = 1.0


DELAYS = Delays()
