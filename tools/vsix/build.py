"""Build extensions: client, server and the server's libraries in one file for each platform.

    python3 -m tools.vsix.build                     dist/tapelint-….vsix for this machine
    python3 -m tools.vsix.build win32-x64 …         those for some platforms
    python3 -m tools.vsix.build all
    python3 -m tools.vsix.build --compiled dist/tapelint-…-manylinux….whl all

All libraries are used as pure Python but libcst, whose compiled module exists once for each Python and platform. The
names of these modules differ by Python (``native.cpython-310-x86_64-linux-gnu.so``), so that one tree serves every
Python of a platform; all platforms in one file would be over 80 MB. The extension named "universal" has no libcst: an
editor on a platform that has none of its own gets that one. Wheels with a compiled engine go into the extension of
the platform that they are for, one for each Python; where there is none, the server runs from its sources.
"""

from __future__ import annotations

import argparse
import base64
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from . import manifest
from .targets import TARGETS, UNIVERSAL, Target, of_this_machine

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUNDLED = ROOT / "bundled"
LIBS, NATIVE, COMPILED = BUNDLED / "libs", BUNDLED / "native", BUNDLED / "compiled"
PAGE = BUNDLED / "README.md"
WHEELS = ROOT / ".cache" / "wheels"
DIST = ROOT / "dist"
QUIET = ("--quiet", "--disable-pip-version-check")
OLDEST = "3.10"
MYPY_EXTENSIONS = "mypy_extensions==1.1.0"
"""What a compiled engine needs beside the libraries of every server."""
VERSION = '"""Which version this is: written when the package is built or installed."""\n\n__version__ = "{version}"\n'


def run(*command: str, folder: Path = ROOT) -> None:
    """Run a command; when it fails, so does the build."""
    subprocess.run(command, cwd=folder, check=True)


def version() -> str:
    """The version of the extension and of the server in it."""
    return manifest.version(ROOT)


def download(requirement: str, python: str, platforms: tuple[str, ...]) -> Path:
    """The wheel for a Python and platform, kept from one run to the next: nothing is compiled, so that any machine can
    build for any other.
    """
    folder = WHEELS / f"{requirement}-{python}-{platforms[0]}"
    if not list(folder.glob("*.whl")):
        where = [option for tag in platforms for option in ("--platform", tag)]
        what = ("--only-binary=:all:", "--no-deps", "--dest", str(folder), requirement)
        run(sys.executable, "-m", "pip", "download", *QUIET, *where, "--python-version", python, *what)
    (wheel,) = folder.glob("*.whl")
    return wheel


def unpack(wheel: Path, target: Path, is_compiled: bool) -> None:
    """Put what is pure Python of a wheel into ``target``, or its compiled modules."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith((".so", ".pyd")) == is_compiled]
        archive.extractall(target, names)


def bundle(version: str) -> None:
    """Put the libraries that are pure Python into ``bundled/libs``, unless they are there."""
    requirements = (HERE / "requirements.txt").read_text()
    made_from, recipe = LIBS / "made-from.txt", f"{version}\n{requirements}"
    if made_from.exists() and made_from.read_text() == recipe:
        return
    shutil.rmtree(LIBS, ignore_errors=True)
    for requirement in re.findall(r"^[\w.-]+==\S+", requirements, re.MULTILINE):
        # PyYAML has no wheel without a compiled part, which it can do without.
        platforms = TARGETS["linux-x64"].wheels if requirement.startswith("PyYAML") else ("any",)
        unpack(download(requirement, OLDEST, platforms), LIBS, is_compiled=False)
    # Stubs of Django and of other packages: jedi is only asked where modules are, and vsce takes minutes over them.
    stubs = LIBS / "jedi" / "third_party"
    for waste in (stubs / "django-stubs", stubs / "typeshed" / "stubs"):
        shutil.rmtree(waste)
    # The server is shipped as source; this is what lets it name its version.
    about = LIBS / f"tapelint-{version}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: tapelint\nVersion: {version}\n")
    made_from.write_text(recipe)


def bundle_libcst(target: Target) -> None:
    """Put libcst, for all Pythons that it is compiled for, into ``bundled/native``; nothing for the universal one."""
    shutil.rmtree(NATIVE, ignore_errors=True)
    for python in target.pythons if target.wheels else ():
        wheel = download(f"libcst=={target.libcst}", python, target.wheels)
        if python == target.pythons[0]:
            unpack(wheel, NATIVE, is_compiled=False)
        unpack(wheel, NATIVE, is_compiled=True)
    for tests in list(NATIVE.glob("libcst/**/tests")):
        shutil.rmtree(tests)


def bundle_compiled(target: Target, wheels: Sequence[Path]) -> None:
    """Put the server with a compiled engine into ``bundled/compiled``, of each wheel that is for the target."""
    shutil.rmtree(COMPILED, ignore_errors=True)
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if ".dist-info/" not in name]
            library = next(name for name in names if name.startswith("tapelint__mypyc."))
            if library.endswith(target.suffixes[:1]):  # not by the name that Python 3.10 has for musl, too
                folder = COMPILED / compiled_for(library)
                archive.extractall(folder, names)
                unpack(download(MYPY_EXTENSIONS, OLDEST, ("any",)), folder, is_compiled=False)


def compiled_for(library: str) -> str:
    """The Python that a library is for, as it calls itself (``sys.implementation.cache_tag``): ``cpython-311``."""
    found = re.search(r"\.(?:cpython-|cp)(\d+)", library)
    assert found is not None, library
    return f"cpython-{found[1]}"


def write_page() -> None:
    """Write the extension's page, with its pictures in it: VS Code shows none by a relative address, and the project
    has no public one where they could be.
    """
    page = ROOT / "client" / "marketplace.md"

    def embedded(found: re.Match[str]) -> str:
        content = base64.b64encode((page.parent / found[2]).read_bytes()).decode()
        return f"![{found[1]}](data:image/png;base64,{content})"

    PAGE.write_text(re.sub(r"!\[([^\]]*)\]\(([^)]+\.png)\)", embedded, page.read_text()))


def package(target: Target, is_scanned: bool) -> None:
    """Make the file of a target from what is bundled. Where it ``is_scanned``, vsce looks for secrets in it first."""
    for cache in list(BUNDLED.rglob("__pycache__")):  # of a server that ran from this tree
        shutil.rmtree(cache)
    vsce = HERE / "node_modules" / "@vscode" / "vsce" / "vsce"
    where = () if target is UNIVERSAL else ("--target", target.name)
    what = ("--out", str(DIST / target.file), "--readme-path", str(PAGE.relative_to(ROOT)), "--no-dependencies")
    how = () if is_scanned else ("--allow-package-all-secrets", "--allow-package-env-file")
    run("node", str(vsce), "package", *where, *what, *how, "--allow-missing-repository", "--no-rewrite-relative-links")


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.vsix.build", description="Build extensions.")
    parser.add_argument("targets", nargs="*", help="linux-x64 and others, or all; without, that of this machine")
    parser.add_argument("--compiled", nargs="+", type=Path, default=[], help="wheels with a compiled engine")
    options = parser.parse_args(arguments)
    names = options.targets
    wanted = TARGETS if names == ["all"] else dict.fromkeys(names or [of_this_machine().name])
    if unknown := wanted.keys() - TARGETS.keys():
        sys.exit(f"no such platform: {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)} and all")
    bundle(version())
    (ROOT / "server" / "tapelint" / "_version.py").write_text(VERSION.format(version=version()))
    write_page()
    run("npm", "run", "--silent", "build")
    if not (HERE / "node_modules").is_dir():
        run("npm", "ci", "--ignore-scripts", folder=HERE)
    # What they share is scanned in the first of them: that takes vsce minutes, most of it over compiled modules.
    first, *others = sorted(map(TARGETS.__getitem__, wanted), key=lambda target: target is not UNIVERSAL)
    for target in (first, *others):
        bundle_libcst(target)
        bundle_compiled(target, options.compiled)
        with manifest.as_released(ROOT):
            package(target, is_scanned=target is first)
        file = DIST / target.file
        print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
