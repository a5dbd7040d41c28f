"""Build a wheel with the compiled engine, for this Python and this machine: ``python -m tools.compiled``.

It is the pure wheel with the engine's modules rewritten (``sources.py``) and with a library for each beside it, which
Python prefers. ``dist/`` has both kinds, under names that differ by their tags. On Linux the tag says which C libraries
are new enough (``manylinux``): a package index takes no wheel that is tagged for Linux alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mypyc.build import mypycify
from setuptools import Extension
from setuptools._distutils.ccompiler import new_compiler
from setuptools._distutils.sysconfig import customize_compiler

from . import sources

ROOT = Path(__file__).resolve().parents[2]
BUILD, DIST = ROOT / "build" / "compiled", ROOT / "dist"
JOBS = 2
"""Compilers at a time: each takes up to 400 MB."""


def main() -> int:
    """Build the wheel; print where it is."""
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as made:
        pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", made, str(ROOT))
        subprocess.run(pip, check=True)
        (pure,) = Path(made).glob("*.whl")
        with zipfile.ZipFile(pure) as archive:
            archive.extractall(BUILD / "pure")
    tree = BUILD / "wheel"
    shutil.copytree(BUILD / "pure", tree, ignore=shutil.ignore_patterns("tapelint"))
    modules = sources.write(BUILD / "pure" / "tapelint", tree / "tapelint")
    compile_into(tree, translated(tree, modules))
    print(portable(packed(tree)))
    return 0


def translated(tree: Path, modules: Iterable[Path]) -> list[Extension]:
    """The modules as C, in ``BUILD / "c"``."""
    options = BUILD / "mypy.ini"
    version = ".".join(map(str, sys.version_info[:2]))
    options.write_text(sources.OPTIONS.format(version=version, untyped=",".join(sources.UNTYPED)), encoding="utf-8")
    os.chdir(tree)  # what mypy calls a module is its path from here, and so is what a traceback says
    paths = [str(path.relative_to(tree)) for path in modules]
    made: list[Extension] = mypycify(
        ["--config-file", str(options), "--cache-dir", str(BUILD / "cache"), *paths],
        opt_level=os.environ.get("TAPELINT_OPTIMIZE", "1"),
        debug_level="0",
        multi_file=True,
        group_name="tapelint",
        target_dir=str(BUILD / "c"),
    )
    return made


def compile_into(tree: Path, extensions: list[Extension]) -> None:
    """Compile each extension, and put it where Python looks for it."""
    compiler = new_compiler()
    customize_compiler(compiler)
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    header = sysconfig.get_paths()["include"]

    def compiled(source: str, extension: Extension) -> str:
        flags = [flag for flag in extension.extra_compile_args if flag != "-Werror"]
        options = {"include_dirs": [*extension.include_dirs, header], "extra_preargs": ["-w"]}
        (made,) = compiler.compile([source], "/", extra_postargs=flags, **options)
        return str(made)

    with ThreadPoolExecutor(JOBS) as pool:
        for extension in extensions:
            objects = list(pool.map(lambda source, of=extension: compiled(source, of), extension.sources))
            target = tree / (extension.name.replace(".", "/") + suffix)
            compiler.link_shared_object(objects, str(target), extra_postargs=["-s"])


def packed(tree: Path) -> Path:
    """The wheel made of what is in ``tree``, tagged for this Python and machine."""
    (info,) = tree.glob("*.dist-info")
    metadata = info / "METADATA"
    # The rewritten modules say with its decorators what mypyc makes of a class.
    needs = "\nRequires-Dist: mypy_extensions\nRequires-Dist: "
    metadata.write_text(metadata.read_text(encoding="utf-8").replace("\nRequires-Dist: ", needs, 1), encoding="utf-8")
    about = info / "WHEEL"
    text = about.read_text(encoding="utf-8").replace("Root-Is-Purelib: true", "Root-Is-Purelib: false")
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    about.write_text(text.replace("Tag: py3-none-any", f"Tag: {python}-{python}-{platform}"), encoding="utf-8")
    DIST.mkdir(exist_ok=True)
    subprocess.run(
        [sys.executable, "-m", "wheel", "pack", "--dest-dir", str(DIST), str(tree)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return max(DIST.glob(f"*-{python}-{python}-*.whl"), key=lambda path: path.stat().st_mtime)


def portable(wheel: Path) -> Path:
    """The wheel, tagged for all Linux systems on which its libraries load; elsewhere as it is."""
    if sys.platform != "linux":
        return wheel
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    with tempfile.TemporaryDirectory() as made:
        subprocess.run(
            [sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", made, str(wheel)],
            check=True,
            env={**os.environ, "PATH": tools},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        (tagged,) = Path(made).glob("*.whl")
        wheel.unlink()
        return Path(shutil.move(tagged, DIST / tagged.name))


if __name__ == "__main__":
    sys.exit(main())
