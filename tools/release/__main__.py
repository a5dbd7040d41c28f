"""Make a release, all but the upload:

    python -m tools.release 0.2.0                        what is in dist/ afterwards can be uploaded
    python -m tools.release 0.2.0 --without-extensions   no VSIX: needs neither node nor npm
    python -m tools.release 0.2.0 --pure                 no wheels with a compiled engine: needs no C compiler

CHANGELOG.md and the pages that name a version are brought up to date, committed and tagged; wheel, sdist and extensions
are built of the tag and looked into. All of it happens in a clone: only when nothing went wrong do commit and tag come
into this tree. Nothing is pushed or uploaded; what is left to do is printed.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.vsix.manifest import url
from tools.vsix.verify import pythons

from .changelog import ReleaseError, released

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("docs/ci.md", "templates/tapelint.gitlab-ci.yml")
"""Files that name the version to use: as ``v0.1.0`` or ``==0.1.0``."""
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?")
_NAMED = re.compile(rf"(?P<sign>\bv|==){_VERSION.pattern}\b")
_KEPT = ("node_modules", "tools/vsix/node_modules", ".cache")
"""What takes long to have and is no part of the tree."""


def run(folder: Path, *command: str | Path) -> str:
    """Run a command; what it prints. Raises ReleaseError with that where it fails."""
    done = subprocess.run(
        list(map(str, command)), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        raise ReleaseError(f"{' '.join(map(str, command))} has failed:\n{done.stdout}")
    return done.stdout.strip()


def last_tag(root: Path) -> str:
    """The tag of the last version; empty before the first."""
    tags = run(root, "git", "tag", "--list", "v[0-9]*", "--sort=-v:refname", "--merged").splitlines()
    return tags[0] if tags else ""


def check(root: Path, version: str) -> None:
    """Raise ReleaseError where there can be no release of this tree as ``version``."""
    if not _VERSION.fullmatch(version):
        raise ReleaseError(f"{version!r} is no version; write one as 0.2.0, or 0.2.0rc1 before it")
    if run(root, "git", "status", "--porcelain"):
        raise ReleaseError("commit or stash what has changed in this tree first")
    if run(root, "git", "tag", "--list", f"v{version}"):
        raise ReleaseError(f"there is a tag v{version} already")
    before = last_tag(root)
    if before and _order(version) <= _order(before[1:]):
        raise ReleaseError(f"{version} does not come after {before[1:]}, the last version")


def _order(version: str) -> tuple[tuple[int, ...], str]:
    """Sorts versions: ``0.2.0rc1`` comes before ``0.2.0``."""
    number, sign, rest = re.fullmatch(r"([\d.]+?)(?:(a|b|rc)(\d+))?", version).groups()  # type: ignore[union-attr]
    return tuple(map(int, number.split("."))), f"{sign}{int(rest):06}" if sign else "z"


def prepare(tree: Path, version: str, date: str) -> None:
    """Bring changelog and pages up to date, commit and tag."""
    changelog = tree / "CHANGELOG.md"
    text = released(changelog.read_text(encoding="utf-8"), version, date, last_tag(tree), url(tree))
    changelog.write_text(text, encoding="utf-8")
    for name in PAGES:
        page = tree / name
        page.write_text(_NAMED.sub(rf"\g<sign>{version}", page.read_text(encoding="utf-8")), encoding="utf-8")
    run(tree, "git", "commit", "--quiet", "--all", f"--message=release: {version}")
    run(tree, "git", "tag", "--annotate", f"--message=tapelint {version}", f"v{version}")


def build(tree: Path, with_extensions: bool, is_compiled: bool) -> Path:
    """Build and look into what is uploaded; the folder that holds it."""
    made = tree / "dist"
    print("wheel and sdist ...", flush=True)
    run(tree, sys.executable, "-m", "build", "--outdir", made)
    compiled = []
    for name, python in pythons().items() if is_compiled else ():
        print(f"wheel with a compiled engine for Python {name} ...", flush=True)
        compiled.append(build_compiled(tree, python))
    run(tree, sys.executable, "-m", "twine", "check", "--strict", *sorted(made.iterdir()))
    if with_extensions:
        print("extensions ...", flush=True)
        engines = ["--compiled", *map(str, compiled)] if compiled else []
        run(tree, sys.executable, "-m", "tools.vsix.build", *engines)
        print(run(tree, sys.executable, "-m", "tools.vsix.verify", *sorted(made.glob("*.vsix"))), flush=True)
    return made


def build_compiled(tree: Path, python: str) -> Path:
    """Build the wheel with a compiled engine for one Python, and start it where nothing else is; the wheel."""
    with tempfile.TemporaryDirectory() as scratch:
        tools, place = Path(scratch, "tools"), Path(scratch, "place")
        run(tree, python, "-m", "venv", tools)
        run(tree, tools / "bin" / "python", "-m", "pip", "install", "--quiet", f"{tree}[compiled]")
        wheel = run(tree, tools / "bin" / "python", "-m", "tools.compiled").split()[-1]
        run(tree, python, "-m", "venv", place)
        run(tree, place / "bin" / "python", "-m", "pip", "install", "--quiet", wheel)
        said = run(place, place / "bin" / "tapelint", "check", "--exit-zero", tree / "examples")
        if "Found" not in said:
            raise ReleaseError(f"{Path(wheel).name} finds nothing in examples/:\n{said}")
    return Path(wheel)


def release(root: Path, version: str, date: str, with_extensions: bool, is_compiled: bool) -> list[Path]:
    """Make a release of the tree ``root``; what can be uploaded."""
    check(root, version)
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch, "tapelint")
        run(root, "git", "clone", "--quiet", "--no-local", str(root), str(tree))
        for name, value in _identity(root):
            run(tree, "git", "config", name, value)
        for name in _KEPT:
            if with_extensions and (root / name).is_dir():
                (tree / name).symlink_to(root / name)
        prepare(tree, version, date)
        made = sorted(build(tree, with_extensions, is_compiled).iterdir())
        if run(tree, "git", "status", "--porcelain", "--untracked-files=no"):
            raise ReleaseError("the build has changed files that git tracks")
        target = root / "dist" / version
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        copied = [Path(shutil.copy2(path, target)) for path in made if path.is_file() and _is_released(path)]
        tag = f"refs/tags/v{version}"
        run(root, "git", "fetch", "--quiet", "--no-tags", tree, "HEAD", f"{tag}:{tag}")
        run(root, "git", "merge", "--quiet", "--ff-only", f"{tag}^{{commit}}")
    return copied


def _is_released(path: Path) -> bool:
    return path.suffix in (".whl", ".gz", ".vsix")


def _identity(root: Path) -> Iterator[tuple[str, str]]:
    """Who commits, as git knows it in the tree."""
    for name in ("user.name", "user.email"):
        command = ["git", "config", name]
        value = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout.strip()
        if value:
            yield name, value


def left_to_do(version: str, files: list[Path], address: str) -> str:
    """The commands that make the release public."""
    folder = os.path.relpath(files[0].parent)
    rows = [f"git push {address or 'REMOTE'} HEAD v{version}", f"twine upload {folder}/*.whl {folder}/*.tar.gz"]
    if any(path.suffix == ".vsix" for path in files):
        rows.append(f"npx @vscode/vsce publish --packagePath {folder}/*.vsix")
        rows.append(f"npx ovsx publish --packagePath {folder}/*.vsix")
    head = f"tapelint {version} is committed and tagged here. To make it public:"
    return "\n".join(["", head, *(f"    {row}" for row in rows)])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.release", description="Make a release, all but the upload.")
    parser.add_argument("version", help="as 0.2.0")
    parser.add_argument("--without-extensions", action="store_true", help="build no VSIX")
    parser.add_argument("--pure", action="store_true", help="build no wheel with a compiled engine")
    arguments = parser.parse_args()
    today = datetime.date.today().isoformat()
    if not arguments.pure and shutil.which("cc") is None:
        sys.exit("no release: wheels with a compiled engine need a C compiler; --pure leaves them out")
    try:
        files = release(ROOT, arguments.version, today, not arguments.without_extensions, not arguments.pure)
    except ReleaseError as error:
        sys.exit(f"no release: {error}")
    for file in files:
        print(f"{os.path.relpath(file)}: {file.stat().st_size / 1e6:.1f} MB")
    print(left_to_do(arguments.version, files, url(ROOT)))


if __name__ == "__main__":
    main()
