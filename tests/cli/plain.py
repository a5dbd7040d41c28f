"""The command line as it is run by a user to whom permissions apply. Root is no such user: where root runs the tests,
it gives up the capabilities that make the difference.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SERVER = Path(__file__).resolve().parents[2] / "server"
WITHOUT_RIGHTS = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]


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
        return self.run([sys.executable, "-m", "tapelint", *arguments])

    def shell(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a script of the shell; ``$TAPELINT`` is the command."""
        return self.run(["sh", "-c", script], TAPELINT=f"{sys.executable} -m tapelint", **environment)

    def run(self, command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.prefix, *command],
            cwd=self.folder,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
