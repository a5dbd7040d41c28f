"""What the server loads before it has answered ``initialize``: the editor waits for that, and the engine is not needed
for it. And what every command loads, be it only to print the version.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from .test_house import LAYERS

NEEDED = {
    "compiled",
    "fault",
    "because",
    "bounds",
    "headline",
    "severity",
    "source",
    "stubs",
    "report",
    "workspace",
    "lsp",
    "cli",
    "__main__",
}
NEEDED |= {"frozen", "output_formats"}
"""The parts that a server may load at once: texts, settings, the shape of a finding, and the protocol."""
FOR_LATER = {*(f"tapelint.{part}" for part in LAYERS.keys() - NEEDED), "jedi", "parso", "yaml"}


def framed(message: dict[str, object]) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def loaded_by(stderr: bytes) -> set[str]:
    """The modules that ``python -v`` has said are imported."""
    return {*re.findall(r"^import '(\S+)' #", stderr.decode(), re.MULTILINE)}


@pytest.fixture(scope="module")
def started() -> subprocess.CompletedProcess[bytes]:
    """A server that is asked to initialize and leaves; it says on standard error what it imports."""
    start = {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}}
    said = framed(start) + framed({"method": "exit"})
    command = [sys.executable, "-v", "-m", "tapelint", "server"]
    return subprocess.run(command, input=said, capture_output=True, timeout=60, check=False)


def test_no_module_of_the_engine_is_loaded_before_the_answer(started: subprocess.CompletedProcess[bytes]) -> None:
    assert b'"capabilities"' in started.stdout, started.stdout
    loaded = loaded_by(started.stderr)
    assert {"tapelint.lsp.server", "lsprotocol.types"} <= loaded, "this test does not see what is loaded"
    early = [name for name in loaded if {name, ".".join(name.split(".")[:2]), name.split(".")[0]} & FOR_LATER]
    assert not early, f"the server loads before it answers: {early}"


def test_every_command_loads_the_options_of_all_and_what_none_of_them_does(
    started: subprocess.CompletedProcess[bytes],
) -> None:
    command = [sys.executable, "-v", "-m", "tapelint", "--version"]
    loaded = loaded_by(subprocess.run(command, capture_output=True, timeout=60, check=True).stderr)
    assert {"click", "tapelint.cli.commands"} <= loaded, "this test does not see what is loaded"
    parts = {name.split(".")[1] for name in loaded if name.startswith("tapelint.")}
    assert parts <= {"__main__", "_version", "cli", "compiled", "frozen", "output_formats"}, (
        f"the version is printed with {sorted(parts)}"
    )
    assert not loaded & {"hashlib", "tempfile", "shutil", "json", "logging", "packaging", "pathspec"}
    more = {name for name in loaded_by(started.stderr) - loaded if name.startswith("tapelint.cli.")}
    assert not more, f"the server loads of the command line: {sorted(more)}"


def test_the_types_of_the_protocol_have_no_repr_of_their_own() -> None:
    program = (
        "import tapelint.lsp; from lsprotocol import types; print(types.InitializeParams.__repr__ is object.__repr__)"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert printed.stdout == "True\n", "tapelint.lsp has lost its effect on them: what else imports the types?"
