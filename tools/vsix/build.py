"""Build dist/tapelint-linux-x64.vsix: client, server and the server's dependencies in one file.

    npm ci && npm run package

All dependencies are pure Python but libcst, whose native module exists once per Python version. Their names differ
(``native.cpython-310-x86_64-linux-gnu.so``), so that one tree serves every Python. Other platforms need other native
modules, hence the platform in the file's name.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LIBS = ROOT / "bundled" / "libs"
VSIX = ROOT / "dist" / "tapelint-linux-x64.vsix"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14", "3.15")
PLATFORM = "manylinux_2_28_x86_64"


def run(*command: str, folder: Path = ROOT) -> None:
    subprocess.run(command, cwd=folder, check=True)


def version() -> str:
    """The one version, which Python's and npm's manifests must agree on."""
    npm: str = json.loads((ROOT / "package.json").read_text())["version"]
    python = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    if python is None or python[1] != npm:
        sys.exit(f"package.json says version {npm}, pyproject.toml {python and python[1]}")
    return npm


def install(target: Path, python: str, *what: str) -> None:
    """Wheels only: nothing is built here, so any Python can install for any other."""
    quiet = ("--quiet", "--disable-pip-version-check", "--root-user-action=ignore")
    what = (*what, "--no-compile", "--no-deps", "--only-binary=:all:")
    where = ("--target", str(target), "--platform", PLATFORM, "--python-version", python)
    run(sys.executable, "-m", "pip", "install", *quiet, *where, *what)


def bundle(version: str) -> None:
    requirements = HERE / "requirements.txt"
    libcst = re.search(r"^libcst==\S+", requirements.read_text(), re.MULTILINE)
    assert libcst is not None
    made_from = LIBS / "made-from.txt"
    recipe = f"{version} {PLATFORM} {PYTHONS}\n{requirements.read_text()}"
    if made_from.exists() and made_from.read_text() == recipe:
        return
    shutil.rmtree(LIBS, ignore_errors=True)
    install(LIBS, PYTHONS[0], "--requirement", str(requirements))
    for python in PYTHONS[1:]:
        with tempfile.TemporaryDirectory() as folder:
            install(Path(folder), python, libcst[0])
            (native,) = Path(folder, "libcst").glob("native.*.so")
            shutil.copy(native, LIBS / "libcst")
    # Stubs of Django and of other packages: jedi is only asked where modules are, and vsce takes minutes over them.
    stubs = LIBS / "jedi" / "third_party"
    waste_of_jedi = (stubs / "django-stubs", stubs / "typeshed" / "stubs")
    for waste in [LIBS / "bin", *LIBS.glob("libcst/**/tests"), *waste_of_jedi]:
        shutil.rmtree(waste, ignore_errors=True)
    # The server is shipped as source; this is what lets it name its version.
    about = LIBS / f"tapelint-{version}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: tapelint\nVersion: {version}\n")
    made_from.write_text(recipe)


def package() -> None:
    for cache in list(LIBS.rglob("__pycache__")):  # of a server that ran from this tree
        shutil.rmtree(cache)
    run("npm", "run", "--silent", "build")
    if not (HERE / "node_modules").is_dir():
        run("npm", "ci", "--ignore-scripts", folder=HERE)
    vsce = HERE / "node_modules" / "@vscode" / "vsce" / "vsce"
    what = ("--target", "linux-x64", "--out", str(VSIX), "--no-dependencies")
    run("node", str(vsce), "package", *what, "--allow-missing-repository", "--no-rewrite-relative-links")


def main() -> None:
    bundle(version())
    package()
    print(f"{VSIX.relative_to(ROOT)}: {VSIX.stat().st_size / 1e6:.1f} MB")


main()
