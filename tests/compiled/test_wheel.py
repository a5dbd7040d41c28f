"""The wheel with the compiled engine, installed where nothing else is. Needs a C compiler and the package index, and
builds for some minutes: `make compiled-test`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "examples").rglob("*.py"))

pytestmark = pytest.mark.timeout(7200)


@pytest.fixture(scope="module")
def wheel() -> Path:
    built = subprocess.run(
        [sys.executable, "-m", "tools.compiled"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    return Path(built.stdout.split()[-1])


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has the wheel."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    subprocess.run([folder / "bin" / "pip", "install", "--quiet", wheel], check=True)
    return folder / "bin"


def printed(*command: object) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run([*map(str, command)], stdout=subprocess.PIPE, text=True, env=environment, timeout=3600)
    return run.stdout


def test_the_engine_is_compiled(installed: Path) -> None:
    where = "import tapelint.domain.state as it; print(it.__file__)"
    path = printed(installed / "python", "-c", where).strip()
    assert path.endswith((".so", ".pyd"))


@pytest.mark.skipif(sys.platform != "linux", reason="tags of Linux")
def test_a_package_index_takes_it(wheel: Path) -> None:
    """One that is tagged ``linux_x86_64`` is refused: it does not say on which systems it loads."""
    assert "-manylinux" in wheel.name
    assert [wheel] == [*wheel.parent.glob(f"{wheel.name.rpartition('-')[0]}-*linux*.whl")]


def test_both_say_the_same_of_every_program(installed: Path, tmp_path: Path) -> None:
    """Findings, fixes, counters and hovers: a counter would tell an internal error, too."""
    digests = tmp_path / "pure.txt"
    digests.write_text(printed(sys.executable, "-m", "tools.lock", "--jobs", "2"))
    assert digests.read_text().count("\n") > 2000
    said = printed(installed / "python", "-m", "tools.lock", "--jobs", "2", "--against", digests)
    assert "nothing differs" in said, said


def test_both_print_the_same(installed: Path) -> None:
    """As a program: every file of examples/, and of the folders in TAPELINT_COMPILED_FILES."""
    more = [file for name in os.environ.get("TAPELINT_COMPILED_FILES", "").split() for file in Path(name).rglob("*.py")]
    for file in [*FILES, *sorted(more)]:
        options = ("check", "--output-format", "json", "--no-cache", file)
        pure, compiled = (printed(folder / "tapelint", *options) for folder in (Path(sys.executable).parent, installed))
        assert pure == compiled, file


def test_what_is_nested_deeply_ends_no_process(installed: Path, tmp_path: Path) -> None:
    """Compiled functions call each other on the stack of C, of which the end is not an exception."""
    deep = tmp_path / "deep.py"
    deep.write_text("x = " + " + ".join(["y"] * 20_000) + "\nz = " + "-" * 3_000 + "x\n")
    command = [installed / "tapelint", "check", "--no-cache", deep]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=600)
    assert run.returncode in (0, 1, 2)
