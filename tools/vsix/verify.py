"""Look into packaged extensions, and start the server out of those that fit this machine.

    python3 -m tools.vsix.verify dist/*.vsix

Of each: what is in it, by its name. Of those for this machine, and of the universal one: under every Python there is
here the server shakes hands and mends a file, in a folder whose ``torch.py`` and ``logging.py`` end the process that
imports them.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from .build import ROOT, version
from .targets import PYTHONS, TARGETS, UNIVERSAL, Target, of_this_machine

LARGEST, LARGEST_COMPILED = 10e6, 8e6
"""Bytes of an extension without a compiled engine, which is downloaded for each of its versions, and of each such
engine in it.
"""
ENGINES = "extension/bundled/compiled/"
IMPORTS = "import sys; sys.path.insert(0, sys.argv[1]); import attrs, click, jedi, parso, pathspec, pygls, tomli, yaml"
TAG = "import sys; print(sys.implementation.cache_tag)"
PROGRAM = """import torch
loss = torch.ones(3, requires_grad=True).exp().sum()
loss.backward()
loss.backward()
"""
HANDSHAKE: tuple[Mapping[str, object], ...] = (
    {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
    {"method": "initialized", "params": {}},
    {"id": 2, "method": "shutdown"},
    {"method": "exit"},
)


def faults(vsix: Path) -> Iterator[str]:
    """What is wrong with what is in an extension."""
    target = next((target for target in TARGETS.values() if target.file == vsix.name), None)
    if target is None:
        yield f"its name is that of no platform: {', '.join(each.file for each in TARGETS.values())}"
        return
    with zipfile.ZipFile(vsix) as archive:
        largest = LARGEST + LARGEST_COMPILED * len(engines(archive))
        if vsix.stat().st_size > largest:
            yield f"larger than {largest / 1e6:.0f} MB"
        yield from faults_of_manifest(archive, target)
        yield from faults_of_native(archive, target)
        inside = {name.removeprefix("extension/") for name in archive.namelist()}
        yield from (f"there is no {name}" for name in sorted(expected(archive) - inside))
        yield from (f"{name} does not belong there" for name in sorted(inside) if "__pycache__" in name)


def faults_of_manifest(archive: zipfile.ZipFile, target: Target) -> Iterator[str]:
    """The platform and the version that the marketplace is told."""
    space = {"v": "http://schemas.microsoft.com/developer/vsx-schema/2011"}
    identity = xml.fromstring(archive.read("extension.vsixmanifest")).find("v:Metadata/v:Identity", space)
    told = dict(identity.attrib) if identity is not None else {}
    wanted = None if target is UNIVERSAL else target.name
    if told.get("TargetPlatform") != wanted:
        yield f"it says that it is for {told.get('TargetPlatform')}"
    if told.get("Version") != version():
        yield f"it says that it is version {told.get('Version')}"


def engines(archive: zipfile.ZipFile) -> list[str]:
    """The folders of compiled engines, by the Pythons that they are for: ``cpython-311``."""
    return sorted({name.split("/")[3] for name in archive.namelist() if name.startswith(ENGINES)})


def libraries(archive: zipfile.ZipFile) -> set[str]:
    """What is compiled."""
    return {name for name in archive.namelist() if name.endswith((".so", ".pyd", ".dylib", ".dll"))}


def faults_of_native(archive: zipfile.ZipFile, target: Target) -> Iterator[str]:
    """Which compiled modules there are, and what they were compiled for: those of engines alone."""
    of_engines = {name for name in libraries(archive) if name.startswith(ENGINES)}
    yield from faults_of_engines(archive, target, of_engines)
    yield from (f"{name} does not belong there" for name in sorted(libraries(archive) - of_engines))


def faults_of_engines(archive: zipfile.ZipFile, target: Target, compiled: set[str]) -> Iterator[str]:
    """What the libraries of compiled engines were compiled for."""
    for name in sorted(compiled):
        if not target.suffix or not name.endswith(f".{name.split('/')[3]}{target.suffix}"):
            yield f"{name} does not belong there"
        elif any(not archive.read(name).startswith(part, offset) for offset, part in target.header):
            yield f"{name} is not compiled for {target.name}"


def expected(archive: zipfile.ZipFile) -> set[str]:
    """The files that an extension must have, by their names in it."""
    listed = subprocess.run(
        ["git", "ls-files", "server/tapelint"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    server = {name for name in listed.stdout.splitlines() if name.endswith((".py", ".txt", ".json"))}
    manifest = json.loads(archive.read("extension/package.json"))
    page = archive.read("extension/readme.md").decode()
    media = [step["media"] for guide in manifest["contributes"]["walkthroughs"] for step in guide["steps"]]
    named = {name for each in media for name in pictures(each)} | {
        manifest["icon"],
        manifest["main"].removeprefix("./"),
    }
    shown = {name for name in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page) if not name.startswith(("https:", "data:"))}
    started = {"client/launch.py", "dist/picture.js", "bundled/libs/pygls/__init__.py"}
    rest = {"package.json", "readme.md", "LICENSE.txt", *started}
    return server | named | shown | rest


def pictures(media: Mapping[str, object]) -> Iterator[str]:
    """The files that a step of a walkthrough shows."""
    for key in ("image", "markdown", "svg"):
        match media.get(key):
            case str(name):
                yield name
            case dict(names):
                yield from names.values()


def pythons() -> dict[str, str]:
    """One interpreter for each supported version, from PATH or pyenv."""
    found = {}
    for name in PYTHONS:
        installed = sorted(Path.home().glob(f".pyenv/versions/{name}.*/bin/python3"))
        python = str(installed[-1]) if installed else shutil.which(f"python{name}")
        if python is not None:
            found[name] = python
    return found


def frame(message: Mapping[str, object]) -> bytes:
    """A message as it is sent."""
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def fault_of_server(extension: Path, python: str, folder: Path) -> str | None:
    """What is wrong when a Python runs the server, or None."""

    def launch(*arguments: str, told: bytes) -> subprocess.CompletedProcess[bytes]:
        start = [python, "-I", "-X", "utf8", str(extension / "client" / "launch.py"), *arguments]
        return subprocess.run(start, input=told, cwd=folder, capture_output=True, timeout=120)

    server = launch("server", told=b"".join(map(frame, HANDSHAKE)))
    if server.returncode != 0 or b'"capabilities"' not in server.stdout:
        return f"exit code {server.returncode}\n{server.stderr.decode()}"
    libraries = [python, "-I", "-c", IMPORTS, str(extension / "bundled" / "libs")]
    imported = subprocess.run(libraries, cwd=folder, capture_output=True, timeout=120)
    if imported.returncode != 0:
        return imported.stderr.decode()
    about = json.loads(launch("version", "--output-format", "json", told=b"").stdout)
    tag = subprocess.run([python, "-c", TAG], capture_output=True, text=True, check=True).stdout.strip()
    wanted = "compiled" if (extension / "bundled" / "compiled" / tag).is_dir() else "python"
    if about["engine"] != wanted:
        return f"the engine is {about['engine']}, not {wanted}"
    checked = launch("check", "-", "--output-format", "json", told=PROGRAM.encode())
    fault = fault_of_check(checked.stdout.decode())
    return f"{fault}\n{checked.stdout.decode()}{checked.stderr.decode()}" if fault is not None else None


def fault_of_check(printed: str) -> str | None:
    """What is wrong with what is found in PROGRAM, as JSON: the error has fixes."""
    try:
        found = json.loads(printed)
    except json.JSONDecodeError:
        return "it prints no JSON"
    if [each["code"] for each in found] != ["TL101"]:
        return "it does not find TL101 alone"
    return None if found[0]["fixes"] else "it offers no fix"


def start(vsix: Path) -> Iterator[str]:
    """What is wrong with the server of an extension, under every Python there is."""
    with tempfile.TemporaryDirectory() as scratch:
        zipfile.ZipFile(vsix).extractall(scratch)
        hostile = Path(scratch, "workspace")
        hostile.mkdir()
        for module in ("torch.py", "logging.py", "sitecustomize.py"):
            (hostile / module).write_text("import os\nos._exit(66)\n")
        for name, python in pythons().items():
            fault = fault_of_server(Path(scratch, "extension"), python, hostile)
            print(f"  Python {name} ({python}): {fault or 'ok'}", flush=True)
            if fault is not None:
                yield fault


def main(files: list[str]) -> None:
    failed = not files
    for vsix in map(Path, files):
        found = [*faults(vsix)]
        print(f"{vsix.name}: {vsix.stat().st_size / 1e6:.1f} MB, {'; '.join(found) or 'ok'}", flush=True)
        target = TARGETS.get(vsix.stem.removeprefix("tapelint-"))
        if not found and target in (of_this_machine(), UNIVERSAL):
            found += start(vsix)
        failed |= bool(found)
    sys.exit(failed)


if __name__ == "__main__":
    main(sys.argv[1:])
