"""Whether another file may import one: rather one too many than one too few."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tapelint.bounds import Bounds
from tapelint.workspace import Resolver, importers

IMPORTS = [
    "import helper",
    "import os, helper as h",
    "from helper import f",
    "from pkg import helper",
    "from . import a, helper",
    "from .helper import f",
    "from pkg import (  # some (\n    a,\n    # of them)\n    helper,\n)",
    "from pkg import a, \\\n    helper",
    "if x: import helper",
    "def f():\n    import pkg.helper.deep",
    "import importlib\nimportlib.import_module(name)",
    "exec(open('helper.py').read())",
]
OTHERS = [
    "import helpers",
    "helper = 1",
    "# import helper",
    "from a import b\nhelper()",
    "import importlib",
    "model.exec()",
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "helper.py").write_text("import helper\n")
    return tmp_path


def asked(project: Path, name: str = "helper.py") -> bool:
    return Resolver([str(project)]).is_imported(str(project / name))


@pytest.mark.parametrize("text", IMPORTS)
def test_files_that_may_import(project: Path, text: str) -> None:
    assert not asked(project)
    (project / "tools").mkdir()
    (project / "tools" / "main.py").write_text(text + "\n")
    assert asked(project)


@pytest.mark.parametrize("text", OTHERS)
def test_files_that_do_not_import(project: Path, text: str) -> None:
    (project / "main.py").write_text(text + "\n")
    assert not asked(project)


def test_a_package_is_imported_by_the_name_of_its_folder(project: Path) -> None:
    (project / "net").mkdir()
    (project / "net" / "__init__.py").touch()
    assert not asked(project, "net/__init__.py")
    (project / "main.py").write_text("from net import unet\n")
    assert asked(project, "net/__init__.py")


def test_notebooks_import_and_are_not_imported(project: Path) -> None:
    cell = {"cell_type": "code", "source": ["import helper\n", "import a"], "metadata": {}, "outputs": []}
    (project / "a.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    assert asked(project)
    assert not asked(project, "a.ipynb")
    assert not Resolver([str(project)]).is_imported("<stdin>")


def test_unreadable_files_may_import_anything(project: Path) -> None:
    (project / "main.py").write_bytes(b"\xff\xfe")
    assert asked(project)


def test_open_documents_are_searched(project: Path) -> None:
    main = project / "main.py"
    main.write_text("import helper\n")
    held = Resolver([str(project)], {str(main): "import other\n"})
    assert asked(project) and not held.is_imported(str(project / "helper.py"))
    new = Resolver([str(project)], {str(main): "", str(project / "new.py"): "import helper\n"})
    assert new.is_imported(str(project / "helper.py"))


def test_folders_above_count_where_nothing_marks_the_root(tmp_path: Path) -> None:
    folder = tmp_path / "app" / "lib"
    folder.mkdir(parents=True)
    (folder / "helper.py").touch()
    assert not Resolver().is_imported(str(folder / "helper.py"))
    (tmp_path / "app" / "main.py").write_text("import lib.helper\n")
    assert Resolver().is_imported(str(folder / "helper.py"))
    (folder / "pyproject.toml").touch()
    assert not Resolver().is_imported(str(folder / "helper.py"))


def test_too_large_projects_are_uncertain(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (project / f"data{number}").mkdir()
    assert not asked(project)
    monkeypatch.setattr(importers, "BOUNDS", Bounds(importers=5))
    assert asked(project)
