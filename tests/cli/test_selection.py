"""Which files a run is about, and under which settings: options, configuration and ignore files, as ruff has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from plain import Tapelint

BAD = "import torch\n\nw = torch.ones(2, requires_grad=True)\ny = w.exp()\ny += 1\ny.sum().backward()\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("a.py", "src/b.py", "src/gen/c.py", "out/d.py", "dist/e.py", ".ci/f.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(BAD)
    (tmp_path / ".git" / "info").mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("# made by tools\nout/\n[z-a]\n")
    return tmp_path


def shown(tapelint: Tapelint, project: Path, *options: str) -> set[str]:
    done = tapelint("check", "--show-files", *options)
    assert (done.returncode, done.stderr) == (0, "")
    return {str(Path(line).relative_to(project)) for line in done.stdout.splitlines()}


ALL = {"a.py", ".ci/f.py", "src/b.py", "src/gen/c.py"}


@pytest.mark.parametrize(
    ("options", "files"),
    [
        ([], ALL),
        (["--no-respect-gitignore"], ALL | {"out/d.py"}),
        (["--extend-exclude", "gen,.ci"], {"a.py", "src/b.py"}),
        (["--exclude", "src"], {"a.py", ".ci/f.py", "dist/e.py"}),
        (["--exclude", "src/*", "--exclude", "!src/b.py"], {"a.py", ".ci/f.py", "dist/e.py", "src/b.py"}),
        (["--config", "extend-exclude = ['gen']"], ALL - {"src/gen/c.py"}),
        (["out"], {"out/d.py"}),
        (["dist"], {"dist/e.py"}),
        (["dist/e.py", "a.py"], {"dist/e.py", "a.py"}),
        (["--force-exclude", "dist/e.py", "a.py"], {"a.py"}),
        (["--force-exclude", "dist"], set()),
    ],
)
def test_files(tapelint: Tapelint, project: Path, options: list[str], files: set[str]) -> None:
    assert shown(tapelint, project, *options) == files


def test_ignore_files_of_folders(tapelint: Tapelint, project: Path) -> None:
    """The nearest one decides; .git/info/exclude counts, a .gitignore above the repository does not."""
    (project / "src" / ".gitignore").write_text("*.py\n!b.py\n")
    (project / ".git" / "info" / "exclude").write_text("/a.py\n")
    (project / ".ci" / ".ignore").write_text("f.py\n")
    assert shown(tapelint, project) == {"src/b.py"}
    assert shown(tapelint, project, "src") == {"src/b.py"}
    (project / ".git").rename(project / "git")
    assert shown(tapelint, project) == ALL - {".ci/f.py"} | {"out/d.py"}


def test_a_file_named_twice_is_checked_once(tapelint: Tapelint, project: Path) -> None:
    done = tapelint("check", "a.py", str(project / "a.py"), "--output-format=concise")
    assert done.stdout.count("TL201") == 1


def test_an_excluded_standard_input(tapelint: Tapelint, project: Path) -> None:
    named = ["-", "--stdin-filename", "dist/e.py"]
    assert tapelint("check", *named, stdin=BAD.encode()).returncode == 1
    done = tapelint("check", "--force-exclude", *named, stdin=BAD.encode())
    assert (done.returncode, "TL201" in done.stdout) == (0, False)
    assert tapelint("check", "--force-exclude", "--fix", *named, stdin=BAD.encode()).stdout == BAD


def test_settings(tapelint: Tapelint, project: Path) -> None:
    text = 'ignore = ["TL3"]\nseverities = { TL105 = "off" }\nper-file-ignores = { "!src/*" = ["TL4"] }\n'
    (project / "tapelint.toml").write_text(text)
    done = tapelint("check", "--show-settings", "--select", "TL1,TL2", "src")
    assert done.returncode == 0
    assert f"# Settings for {project / 'src' / 'b.py'}\n# from {project / 'tapelint.toml'}\n" in done.stdout
    for line in (
        'select = ["TL1", "TL2"]',
        'ignore = ["TL3"]',
        'severities = { TL105 = "off" }',
        "force-exclude = false",
    ):
        assert f"{line}\n" in done.stdout
    assert 'per-file-ignores = { "!src/*" = ["TL4"] }\n' in done.stdout
    isolated = tapelint("check", "--show-settings", "--isolated", "src").stdout
    assert "# from no file of the project\n" in isolated and "ignore = []\n" in isolated


def test_another_configuration(tapelint: Tapelint, project: Path) -> None:
    """Instead of the project's; its patterns are below the current folder, and settings go over it."""
    (project / "tapelint.toml").write_text('ignore = ["TL201"]\n')
    (project / "other").mkdir()
    other = project / "other" / "t.toml"
    other.write_text('extend-exclude = ["src"]\nignore = ["TL2"]\n')
    assert tapelint("check", "a.py").returncode == 0
    assert tapelint("check", "a.py", "--isolated").returncode == 1
    assert tapelint("check", "a.py", "--config", str(other), "--config", "ignore = []").returncode == 1
    assert shown(tapelint, project, "--config", str(other)) == {"a.py", ".ci/f.py"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--config", "nowhere.toml"], "--config: there is no file nowhere.toml"),
        (["--config", "ignore = ["], "is neither a file nor a setting in TOML"),
        (["--config", "src = 1"], "--config: unknown key 'src'"),
        (["--config", "t.toml", "--isolated"], "goes not with --isolated"),
        (["--exclude", "../x"], "exclude: '../x' is no pattern: it leaves the folder"),
    ],
)
def test_settings_that_cannot_be_used(tapelint: Tapelint, project: Path, options: list[str], said: str) -> None:
    (project / "t.toml").write_text("")
    done = tapelint("check", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr and done.stderr.count("\n") == 1
