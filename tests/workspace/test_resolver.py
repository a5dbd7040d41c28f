"""Which file an import means, by path alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tapelint.workspace import Resolver

FILES = {
    "pyproject.toml": "",
    "train.py": "top = 1\n",
    "helpers.py": "",
    "models/__init__.py": "",
    "models/unet.py": "",
    "models/layers/__init__.py": "",
    "models/layers/conv.py": "",
    "src/pack/__init__.py": "",
    "src/pack/core.py": "",
    "tools/run.py": "",
    "tools/helpers.py": "",
    "bare/deep/leaf.py": "",
    "logging.py": "",
    "torch.py": "",
    "wandb/log.txt": "",
    "wandb/run.py": "",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("importer", "module", "path"),
    [
        ("train.py", "helpers", "helpers.py"),
        ("train.py", "models", "models/__init__.py"),
        ("train.py", "models.unet", "models/unet.py"),
        ("train.py", "models.layers.conv", "models/layers/conv.py"),
        ("train.py", "pack.core", "src/pack/core.py"),
        ("train.py", "bare", "bare/__init__.py"),
        ("train.py", "bare.deep.leaf", "bare/deep/leaf.py"),
        ("tools/run.py", "helpers", "tools/helpers.py"),
        ("tools/run.py", "models.unet", "models/unet.py"),
        ("tools/run.py", "pack", "src/pack/__init__.py"),
        ("models/unet.py", ".", "models/__init__.py"),
        ("models/unet.py", ".layers", "models/layers/__init__.py"),
        ("models/layers/conv.py", "..unet", "models/unet.py"),
        ("models/layers/conv.py", "helpers", "helpers.py"),
        ("models/layers/__init__.py", ".conv", "models/layers/conv.py"),
        ("models/unet.py", "layers", "models/layers/__init__.py"),
        ("src/pack/core.py", "pack", "src/pack/__init__.py"),
    ],
)
def test_resolved(project: Path, importer: str, module: str, path: str) -> None:
    found = Resolver()(module, str(project / importer))
    assert found is not None
    assert found[0] == str(project / path)


@pytest.mark.parametrize("module", ["torch", "logging", "nowhere", "models.nowhere", "helpers.nowhere", "..above", ""])
def test_unresolved(project: Path, module: str) -> None:
    assert Resolver()(module, str(project / "train.py")) is None


def test_a_module_further_up_beats_a_folder_without_one(project: Path) -> None:
    (project / "tools" / "models").mkdir()
    (project / "tools" / "models" / "notes.py").touch()
    found = Resolver()("models", str(project / "tools" / "run.py"))
    assert found is not None
    assert found[0] == str(project / "models" / "__init__.py")


def test_paths_are_relative_where_the_importing_one_is(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    assert Resolver()("models.unet", "train.py") == (os.path.join("models", "unet.py"), "")


def test_open_documents_are_resolved(project: Path) -> None:
    held = {str(project / "helpers.py"): "unsaved = 1\n", str(project / "fresh.py"): "new = 1\n"}
    resolver = Resolver(unsaved=held)
    assert resolver("helpers", str(project / "train.py")) == (str(project / "helpers.py"), "unsaved = 1\n")
    assert resolver("fresh", str(project / "train.py")) == (str(project / "fresh.py"), "new = 1\n")
    assert resolver.found == set(held)


def test_a_file_that_changes_is_read_again(project: Path) -> None:
    resolver, main = Resolver(), str(project / "train.py")
    assert resolver("later", main) is None
    (project / "later.py").write_text("a = 1\n")
    os.utime(project, ns=(1, 1))
    assert resolver("later", main) == (str(project / "later.py"), "a = 1\n")
    (project / "later.py").write_text("a = 1000\n")
    assert resolver("later", main) == (str(project / "later.py"), "a = 1000\n")


def test_unreadable_files_are_not_resolved(project: Path) -> None:
    (project / "broken.py").write_bytes(b"\0\1")
    (project / "circle.py").symlink_to(project / "circle.py")
    main = str(project / "train.py")
    assert Resolver()("broken", main) is None
    assert Resolver()("circle", main) is None
