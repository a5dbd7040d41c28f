"""contextlib: a stack enters managers one by one (``torch.no_grad()``), and leaves them where it is left itself."""

from __future__ import annotations


class ExitStack:
    """The managers that were entered, the innermost last."""

    def __init__(self):
        self.managers = []

    def __enter__(self):
        return self

    def enter_context(self, manager):
        entered = manager.__enter__()
        self.managers.append(manager)
        return entered

    def pop_all(self):
        """What was entered is left with the other stack."""
        other = ExitStack()
        other.managers, self.managers = self.managers, []
        return other

    def close(self):
        for manager in reversed(self.managers):
            manager.__exit__(None, None, None)
        self.managers = []

    def __exit__(self, *error):
        self.close()
