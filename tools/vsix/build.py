"""Build extensions: client, server and the server's libraries in one file.

    python3 -m tools.vsix.build                     dist/tapelint-universal.vsix, which runs everywhere
    python3 -m tools.vsix.build --compiled dist/tapelint-…-manylinux….whl
                                                    and one for each platform that such a wheel is for
    python3 -m tools.vsix.build --unscanned         without the search for secrets (25 s), for tests

All libraries are used as pure Python, so that one file serves every platform and Python. Wheels with a compiled engine
go into an extension of the platform that they are for, one for each Python; other Pythons run the sources there.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from . import manifest
from .targets import TARGETS, UNIVERSAL, Target

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUNDLED = ROOT / "bundled"
LIBS, COMPILED = BUNDLED / "libs", BUNDLED / "compiled"
PAGE = BUNDLED / "README.md"
WHEELS = ROOT / ".cache" / "wheels"
DIST = ROOT / "dist"
QUIET = ("--quiet", "--disable-pip-version-check")
OLDEST = "3.10"
SOME_PLATFORM = ("manylinux_2_28_x86_64",)
"""A library that has a compiled part, and can do without, has a wheel for it."""
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


def unpack(wheel: Path, target: Path) -> None:
    """Put what is pure Python of a wheel into ``target``."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target, [name for name in archive.namelist() if not name.endswith((".so", ".pyd"))])


def bundle(version: str) -> None:
    """Put the libraries that are pure Python into ``bundled/libs``, unless they are there."""
    requirements = (HERE / "requirements.txt").read_text()
    made_from, recipe = LIBS / "made-from.txt", f"{version}\n{requirements}"
    if made_from.exists() and made_from.read_text() == recipe:
        return
    shutil.rmtree(LIBS, ignore_errors=True)
    for requirement in re.findall(r"^[\w.-]+==\S+", requirements, re.MULTILINE):
        platforms = SOME_PLATFORM if requirement.startswith("PyYAML") else ("any",)
        unpack(download(requirement, OLDEST, platforms), LIBS)
    # Stubs of Django and of other packages: jedi is only asked where modules are, and vsce takes minutes over them.
    stubs = LIBS / "jedi" / "third_party"
    for waste in (stubs / "django-stubs", stubs / "typeshed" / "stubs"):
        shutil.rmtree(waste)
    # The server is shipped as source; this is what lets it name its version.
    about = LIBS / f"tapelint-{version}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: tapelint\nVersion: {version}\n")
    made_from.write_text(recipe)


def bundle_compiled(target: Target, wheels: Sequence[Path]) -> None:
    """Put the server with a compiled engine into ``bundled/compiled``, of each wheel that is for the target."""
    shutil.rmtree(COMPILED, ignore_errors=True)
    for wheel in wheels:
        if is_for(wheel, target):
            folder = COMPILED / compiled_for(library_in(wheel))
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder, [name for name in archive.namelist() if ".dist-info/" not in name])
            unpack(download(MYPY_EXTENSIONS, OLDEST, ("any",)), folder)


def library_in(wheel: Path) -> str:
    """The library that the engine in a wheel was compiled into."""
    with zipfile.ZipFile(wheel) as archive:
        return next(name for name in archive.namelist() if name.startswith("tapelint__mypyc."))


def is_for(wheel: Path, target: Target) -> bool:
    """Whether the engine in a wheel was compiled for the platform of a target."""
    return bool(target.suffix) and library_in(wheel).endswith(target.suffix)


def compiled_for(library: str) -> str:
    """The Python that a library is for, as it calls itself (``sys.implementation.cache_tag``): ``cpython-311``."""
    found = re.search(r"\.(?:cpython-|cp)(\d+)", library)
    assert found is not None, library
    return f"cpython-{found[1]}"


def page(text: str, url: str) -> str:
    """The extension's page as it is packaged. The marketplace shows pictures that have a public address, and those are
    in the repository: they are left out as long as the project has none.
    """
    shown = rf"![\1]({url}/raw/HEAD/\2)\n\n" if url else ""
    return re.sub(r"!\[([^\]]*)\]\(\.\./([^)]+\.png)\)\n+", shown, text)


def stage(folder: Path) -> None:
    """Copy what may be packaged, with the manifest of a release, to where nothing else is: vsce asks of each file that
    it sees whether it belongs there, and a tree with environments and caches has many.
    """
    ignored = (ROOT / ".vscodeignore").read_text()
    for name in {".vscodeignore", *re.findall(r"^!([^/\n]+)", ignored, re.MULTILINE)}:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder)
    manifest.write_released(ROOT, folder)


def package(target: Target, is_scanned: bool) -> None:
    """Make the file of a target from what is bundled. Where it ``is_scanned``, vsce looks for secrets in it first."""
    vsce = HERE / "node_modules" / "@vscode" / "vsce" / "vsce"
    where = () if target is UNIVERSAL else ("--target", target.name)
    what = ("--out", str(DIST / target.file), "--readme-path", str(PAGE.relative_to(ROOT)), "--no-dependencies")
    how = () if is_scanned else ("--allow-package-all-secrets", "--allow-package-env-file")
    rest = ("--allow-missing-repository", "--no-rewrite-relative-links")
    with tempfile.TemporaryDirectory() as folder:
        stage(Path(folder))
        run("node", str(vsce), "package", *where, *what, *how, *rest, folder=Path(folder))


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.vsix.build", description="Build extensions.")
    parser.add_argument("--compiled", nargs="+", type=Path, default=[], help="wheels with a compiled engine")
    parser.add_argument("--unscanned", action="store_true", help="do not look for secrets (25 s); never release that")
    options = parser.parse_args(arguments)
    others = [each for each in TARGETS.values() if any(is_for(wheel, each) for wheel in options.compiled)]
    bundle(version())
    (ROOT / "server" / "tapelint" / "_version.py").write_text(VERSION.format(version=version()))
    PAGE.write_text(page((ROOT / "client" / "marketplace.md").read_text(), manifest.url(ROOT)))
    run("npm", "run", "--silent", "build")
    if not (HERE / "node_modules").is_dir():
        run("npm", "ci", "--ignore-scripts", folder=HERE)
    for target in (UNIVERSAL, *others):
        bundle_compiled(target, options.compiled)
        # What they share is scanned once.
        package(target, is_scanned=target is UNIVERSAL and not options.unscanned)
        file = DIST / target.file
        print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
