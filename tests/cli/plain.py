"""The command line in this process; and in one of its own, as it is run by a user to whom permissions apply. Root is no
such user: where root runs the tests, it gives up the capabilities that make the difference.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests import forked, in_process
from tests.forked import SERVER, variables

Tapelint = Callable[..., "subprocess.CompletedProcess[str]"]
WITHOUT_RIGHTS = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]


def tapelint_in(folder: Path) -> Tapelint:
    """Runs the command line there, in this process; or ``apart``, in one of its own. Python starts anew where it is
    ``cold``, or given a variable that it reads then.
    """

    def run(
        *arguments: str, stdin: bytes = b"", apart: bool = False, cold: bool = False, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        env = variables(**environment)
        if apart:
            return forked.run("tapelint", *arguments, stdin=stdin, cwd=folder, env=env)
        if not cold and not any(map(forked.read_at_start, environment)):
            return in_process.run(*arguments, stdin=stdin, cwd=folder, env=env)
        command = [sys.executable, "-m", "tapelint", *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True, cwd=folder, env=env, check=False, timeout=60)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


class Plain:
    """A folder, and the command line there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.prefix = WITHOUT_RIGHTS if os.geteuid() == 0 else []
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(SERVER)}

    def write(self, name: str, text: str, mode: int = 0o644) -> Path:
        file = self.folder / name
        file.write_text(text)
        file.chmod(mode)
        return file

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        where = {"cwd": self.folder, "env": self.environment, "prefix": self.prefix}
        return forked.run("tapelint", *arguments, timeout=120, **where)

    def shell(self, script: str, *, cold: bool = False, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a script of the shell; ``$TAPELINT`` is the command, which starts Python anew where it is ``cold``."""
        python, passed = forked.in_shell(self.environment, self.prefix) if not cold else (sys.executable, [])
        return self.run(["sh", "-c", script], passed, TAPELINT=f"{python} -m tapelint", **environment)

    def run(
        self, command: list[str], passed: Sequence[int] = (), **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.prefix, *command],
            cwd=self.folder,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            check=False,
            pass_fds=passed,
            timeout=120,
        )
