"""``tapelint debug-bundle``: what is in the archive, and that the user's code is only where it was asked for."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from plain import Tapelint

SECRET = """\
import torch

secret_weight = torch.ones(3, requires_grad=True)
secret_result = secret_weight.exp()
secret_result += 1
secret_result.sum().backward()
"""
ARCHIVE = "tapelint-debug-bundle.zip"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "tapelint.toml").write_text('ignore = ["TL4"]\n')
    (tmp_path / "train.py").write_text(SECRET)
    return tmp_path / "train.py"


def texts(folder: Path, name: str = ARCHIVE) -> dict[str, str]:
    with zipfile.ZipFile(folder / name) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_it_says_what_is_in_it(tapelint: Tapelint, file: Path) -> None:
    done = tapelint("debug-bundle", "train.py")
    assert done.returncode == 0, done.stderr
    found = texts(file.parent)
    listed = {line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")}
    assert {*found} == listed | {"README.txt"}
    assert all(name in found["README.txt"] for name in listed)


def test_it_tells_how_the_check_went(tapelint: Tapelint, file: Path) -> None:
    tapelint("debug-bundle", "train.py")
    found = texts(file.parent)
    analysis = json.loads(found["analysis.json"])
    assert analysis["findings"] == {"TL201": 1}
    assert analysis["rows"] == 6 and analysis["statistics"] and not analysis["not_seen"]
    assert 'ignore = ["TL4"]' in found["configuration.toml"]
    versions = json.loads(found["versions.json"])
    assert versions["libraries"]["click"] and versions["libraries"]["jedi"]


def test_code_is_in_it_only_where_that_was_asked_for(tapelint: Tapelint, file: Path) -> None:
    tapelint("debug-bundle", "train.py")
    assert not [name for name, text in texts(file.parent).items() if "secret" in text]
    tapelint("debug-bundle", "train.py", "--include-source", "--output", "more.zip")
    assert texts(file.parent, "more.zip")["source/train.py"] == SECRET


def test_the_home_folder_is_not_named(tapelint: Tapelint, file: Path) -> None:
    tapelint("debug-bundle", "train.py", HOME=str(file.parent))
    assert not [name for name, text in texts(file.parent).items() if str(file.parent) in text]


def test_a_fault_is_in_it_with_its_traceback(tapelint: Tapelint, file: Path, tmp_path: Path) -> None:
    hurt = tmp_path / "hurt"
    hurt.mkdir()
    (hurt / "sitecustomize.py").write_text(
        "import tapelint.analysis\ndef broken(*a, **k):\n    raise OverflowError('too far')\n"
        "tapelint.analysis.analyse = broken\n"
    )
    server = Path(__file__).resolve().parents[2] / "server"
    done = tapelint("debug-bundle", "train.py", PYTHONPATH=f"{hurt}:{server}")
    assert done.returncode == 0, done.stderr
    (unseen,) = json.loads(texts(file.parent)["analysis.json"])["not_seen"]
    assert "OverflowError: too far" in unseen["what"] and "in broken" in unseen["traceback"]


def test_nothing_is_overwritten(tapelint: Tapelint, file: Path) -> None:
    (file.parent / ARCHIVE).write_text("mine")
    done = tapelint("debug-bundle", "train.py")
    assert done.returncode == 2 and "is there already" in done.stderr
    assert (file.parent / ARCHIVE).read_text() == "mine"


def test_without_a_file_it_tells_versions(tapelint: Tapelint, tmp_path: Path) -> None:
    assert tapelint("debug-bundle").returncode == 0
    assert {*texts(tmp_path)} == {"README.txt", "versions.json", "log.txt"}


@pytest.mark.parametrize("name", ["none.py", "."])
def test_a_file_that_cannot_be_read_is_an_error(tapelint: Tapelint, file: Path, name: str) -> None:
    done = tapelint("debug-bundle", name)
    assert done.returncode == 2 and done.stderr.startswith("error: ")
    assert not (file.parent / ARCHIVE).exists()
