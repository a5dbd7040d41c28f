"""Start the server out of a packaged VSIX under every Python there is on this machine, and shake hands with it.

    python3 tools/vsix/verify.py dist/tapelint-linux-x64.vsix

The server runs in a folder whose ``torch.py`` and ``logging.py`` end the process that imports them.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

SUPPORTED = [f"3.{minor}" for minor in range(10, 16)]
LIBCST = "import sys; sys.path.insert(0, sys.argv[1]); import libcst; libcst.parse_module('x = 1')"
HANDSHAKE = (
    {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
    {"method": "initialized", "params": {}},
    {"id": 2, "method": "shutdown"},
    {"method": "exit"},
)


def pythons() -> dict[str, str]:
    """One interpreter for each supported version, from PATH or pyenv."""
    found = {}
    for version in SUPPORTED:
        installed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python3"))
        python = str(installed[-1]) if installed else shutil.which(f"python{version}")
        if python is not None:
            found[version] = python
    return found


def frame(message: Mapping[str, object]) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def verify(extension: Path, python: str, folder: Path) -> str | None:
    """What is wrong, or None."""
    start = [python, "-I", "-X", "utf8", str(extension / "client" / "launch.py"), "server"]
    conversation = b"".join(frame(message) for message in HANDSHAKE)
    server = subprocess.run(start, input=conversation, cwd=folder, capture_output=True, timeout=60)
    if server.returncode != 0 or b'"capabilities"' not in server.stdout:
        return f"exit code {server.returncode}\n{server.stderr.decode()}"
    libs = str(extension / "bundled" / "libs")
    libcst = subprocess.run([python, "-I", "-c", LIBCST, libs], cwd=folder, capture_output=True)
    return libcst.stderr.decode() if libcst.returncode != 0 else None


def main(vsix: str) -> None:
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        zipfile.ZipFile(vsix).extractall(scratch)
        hostile = Path(scratch, "workspace")
        hostile.mkdir()
        for name in ("torch.py", "logging.py", "sitecustomize.py"):
            (hostile / name).write_text("import os\nos._exit(66)\n")
        for version, python in pythons().items():
            fault = verify(Path(scratch, "extension"), python, hostile)
            print(f"Python {version} ({python}): {fault or 'ok'}")
            failed |= fault is not None
    sys.exit(failed)


main(sys.argv[1])
