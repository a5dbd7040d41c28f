"""Wheel and sdist: what is in them, what they say, and that every Python there is runs what is installed."""

from __future__ import annotations

import email
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from pathlib import Path

import pytest
from clones import FIXABLE, TAG, git
from tools.vsix.verify import pythons

VERSION = TAG.removeprefix("v")
ADDRESS = "https://example.org/team/tapelint"
FOLDER = f"tapelint-{VERSION}"


def build(tree: Path, into: Path, *options: str) -> Path:
    """Build distributions of a tree; the folder that they are in."""
    command = [sys.executable, "-m", "build", "--outdir", str(into), *options, str(tree)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return into


@pytest.fixture(scope="session")
def distributions(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, and the wheel that is built of it: where there is no git."""
    return build(repository, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def wheel(distributions: Path) -> Path:
    (found,) = distributions.glob("*.whl")
    return found


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


def tracked(repository: Path, folder: str) -> set[str]:
    return set(git(repository, "ls-files", folder).split())


def test_they_are_named_after_the_tag(distributions: Path) -> None:
    names = sorted(path.name for path in distributions.iterdir())
    assert names == [f"tapelint-{VERSION}-py3-none-any.whl", f"tapelint-{VERSION}.tar.gz"]


def test_twine_takes_them(distributions: Path) -> None:
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, distributions.iterdir())]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_wheel_holds_the_package_and_nothing_else(repository: Path, wheel: Path) -> None:
    wanted = {name.removeprefix("server/") for name in tracked(repository, "server/tapelint")}
    about = {f"{FOLDER}.dist-info/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt")}
    about.add(f"{FOLDER}.dist-info/licenses/LICENSE")
    with zipfile.ZipFile(wheel) as archive:
        assert set(archive.namelist()) == wanted | about | {"tapelint/_version.py"}
    assert {"tapelint/py.typed", "tapelint/tapelint.schema.json"} <= wanted


def test_the_sdist_holds_what_the_wheel_is_built_of(repository: Path, distributions: Path) -> None:
    top = {"README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "hatch_build.py", "PKG-INFO", ".gitignore"}
    with tarfile.open(distributions / f"{FOLDER}.tar.gz") as archive:
        names = {name.removeprefix(f"{FOLDER}/") for name in archive.getnames()}
    assert names == tracked(repository, "server/tapelint") | top | {"server/tapelint/_version.py"}


def test_without_an_address_the_text_for_the_index_leads_nowhere(wheel: Path) -> None:
    said = metadata(wheel)
    assert said.get_all("Project-URL") is None
    text = said.get_payload()
    assert not re.findall(r"\]\((?!https?:|#)[^)]*\)", text)
    assert "# tapelint" in text and "TL102" in text and "pip install .    # in a checkout" in text


def test_with_an_address_all_is_filled_in(repository: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    git(tmp_path, "clone", "--quiet", str(repository), str(tree))
    package = tree / "server" / "tapelint" / "__init__.py"
    package.write_text(package.read_text().replace('__url__: str = ""', f'__url__: str = "{ADDRESS}"'))
    (wheel,) = build(tree, tmp_path / "dist", "--wheel").glob("*.whl")
    said = metadata(wheel)
    urls = dict(line.split(", ") for line in said.get_all("Project-URL"))
    assert {"Homepage", "Source", "Issues", "Changelog", "Documentation"} == set(urls)
    assert all(url.startswith(ADDRESS) for url in urls.values())
    text = said.get_payload()
    links = re.findall(r"\]\((?!https?:|#)[^)]*\)", text)
    assert not links and f"]({ADDRESS}/raw/HEAD/docs/images/" in text and f"]({ADDRESS}/blob/HEAD/docs/" in text
    assert "\n    pip install tapelint\n" in text and "in a checkout" not in text.partition("## Install")[0]
    (tmp_path / "a.py").write_text(FIXABLE)
    for form, where in (("json", '"url": "'), ("sarif", '"helpUri": "')):
        check = [sys.executable, "-c", "from tapelint.__main__ import main; main()"]
        done = subprocess.run(
            [*check, "check", "--output-format", form, "a.py"],
            cwd=tmp_path,
            env={"PYTHONPATH": str(tree / "server")},
            capture_output=True,
            text=True,
        )
        assert f"{where}{ADDRESS}/blob/HEAD/docs/rules/TL201.md" in done.stdout, done.stderr


@pytest.mark.parametrize("point", [TAG, "HEAD"])
def test_an_archive_of_the_tree_knows_its_version(repository: Path, tmp_path: Path, point: str) -> None:
    """As hosts of repositories offer it, and as GitHub downloads an action."""
    git(repository, "archive", "--format=tar", "--prefix=tree/", f"--output={tmp_path / 'tree.tar'}", point)
    with tarfile.open(tmp_path / "tree.tar") as archive:
        archive.extractall(tmp_path, filter="data")
    (wheel,) = build(tmp_path / "tree", tmp_path / "dist", "--wheel").glob("*.whl")
    assert metadata(wheel)["Version"] == VERSION


def test_a_bare_tree_builds(repository: Path, tmp_path: Path) -> None:
    """Neither git nor PKG-INFO nor a substituted archive."""
    tree = tmp_path / "tree"
    git(tmp_path, "clone", "--quiet", str(repository), str(tree))
    subprocess.run(["rm", "-rf", tree / ".git", tree / ".git_archival.txt"], check=True)
    (wheel,) = build(tree, tmp_path / "dist", "--wheel").glob("*.whl")
    assert metadata(wheel)["Version"] == "0.0.0"


@pytest.mark.parametrize("python", pythons().values(), ids=pythons())
def test_every_python_runs_what_is_installed(wheel: Path, tmp_path: Path, python: str) -> None:
    subprocess.run([python, "-m", "venv", str(tmp_path / "venv")], check=True)
    programs = tmp_path / "venv" / "bin"
    install = [programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel]
    subprocess.run(install, check=True)
    said = subprocess.run([programs / "tapelint", "--version"], capture_output=True, text=True)
    assert said.stdout == f"tapelint {VERSION}\n", said.stderr
    (tmp_path / "a.py").write_text(FIXABLE)
    check = [programs / "tapelint", "check", "--output-format", "json", "a.py"]
    (found,) = json.loads(subprocess.run(check, cwd=tmp_path, capture_output=True, text=True).stdout)
    assert found["code"] == "TL201" and found["fixes"]
    page = subprocess.run([programs / "tapelint", "rule", "TL201"], capture_output=True, text=True).stdout
    assert "saved-tensor-modified" in page
    unmet = subprocess.run([programs / "python", "-m", "pip", "check"], capture_output=True, text=True)
    assert unmet.returncode == 0, unmet.stdout
