"""How pytest is set up in a project: the file and the table that it reads, as its documentation says.

    pytest.ini, .pytest.ini     [pytest]
    pyproject.toml              [tool.pytest.ini_options]
    tox.ini                     [pytest]
    setup.cfg                   [tool:pytest]

The nearest folder upward that has one of them counts. What cannot be read says nothing: pytest will complain itself.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ..source.pytest_files import TestConventions
from .files import Nearest
from .toml import read_toml

TABLES = (("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))
FIELDS = {
    "python_files": "files",
    "python_classes": "classes",
    "python_functions": "functions",
    "testpaths": "paths",
}


def conventions_near(place: Path) -> TestConventions:
    """What is called a test in the project of a file or folder."""
    found = _nearest(os.path.abspath(place))
    return TestConventions() if found is None else found


def forget() -> None:
    """Read the files anew from now on: they may have changed."""
    _nearest.forget()


def _in(place: str) -> TestConventions | None:
    """What a folder says; None where it has no configuration of pytest."""
    folder = Path(place)
    for name, section in TABLES[:2]:
        if (table := _section(folder / name, section)) is not None:
            return _conventions(table, folder)
    if (table := _options(folder / "pyproject.toml")) is not None:
        return _conventions(table, folder)
    for name, section in TABLES[2:]:
        if (table := _section(folder / name, section)) is not None:
            return _conventions(table, folder)
    return None


_nearest = Nearest(_in)


def _section(path: Path, name: str) -> Mapping[str, object] | None:
    """A section of an ini file; None where there is none."""
    text = _text(path)
    if name not in text:
        return None
    import configparser  # few projects have such a file

    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except (configparser.Error, ValueError):
        return None
    return dict(parser[name]) if parser.has_section(name) else None


def _options(path: Path) -> Mapping[str, object] | None:
    """The table of pytest in a pyproject.toml; None where there is none."""
    text = _text(path)
    if "pytest" not in text:
        return None
    try:
        table: object = read_toml(text)
    except (ValueError, RecursionError):
        return None
    for key in ("tool", "pytest", "ini_options"):
        table = table.get(key) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else None


def _conventions(table: Mapping[str, object], folder: Path) -> TestConventions:
    """What the options of a table say, each as words of a text or as a list of them."""
    # `testpaths` is where pytest looks if it is called without a path; given a path it collects what `python_files`
    # names, wherever that is. With the default names a test file is one anywhere. Where a project has named its files,
    # such as `*.py`, only the folders keep its other files apart.
    said = {field: words for option, field in FIELDS.items() if (words := _words(table.get(option)))}
    default = TestConventions()
    return TestConventions(
        said.get("files", default.files),
        said.get("classes", default.classes),
        said.get("functions", default.functions),
        said.get("paths", ()) if "files" in said else (),
        str(folder),
    )


def _words(option: object) -> tuple[str, ...]:
    if isinstance(option, str):
        return tuple(option.split())
    return tuple(word for word in option if isinstance(word, str)) if isinstance(option, list) else ()


def _text(path: Path) -> str:
    try:
        return path.read_text("utf8", "replace") if os.path.isfile(path) else ""
    except OSError:
        return ""
