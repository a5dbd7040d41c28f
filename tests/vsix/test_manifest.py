"""What the extension tells VS Code and its user holds: the problem matcher reads what is printed, the page names what
there is, and everything on it works without a public address.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests import forked
from tools.vsix.build import page

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = json.loads((ROOT / "package.json").read_text())
CONTRIBUTED = MANIFEST["contributes"]
PAGE = (ROOT / "client" / "marketplace.md").read_text()
CELL = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}


def printed(folder: Path) -> list[str]:
    """What ``check --output-format concise`` prints of a folder."""
    done = forked.run("tapelint", "check", "--output-format", "concise", ".", cwd=folder, env=forked.variables())
    return [line for line in done.stdout.splitlines() if "TL" in line]


def read(line: str) -> dict[str, str]:
    """What the problem matcher reads in a line."""
    pattern = dict(CONTRIBUTED["problemMatchers"][0]["pattern"])
    found = re.search(pattern.pop("regexp"), line)
    assert found is not None, line
    return {name: found[group] for name, group in pattern.items()}


@pytest.mark.parametrize("name", ["plain.py", "two words.py", "12:30:5.py"])
def test_the_problem_matcher_reads_what_is_printed(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("import torch\nx = torch.ones(3)\nx.sum().backward()\n")
    (line,) = printed(tmp_path)
    found = read(line)
    assert (tmp_path / found["file"]).is_file()
    assert (found["line"], found["column"], found["severity"], found["code"]) == ("3", "1", "error", "TL301")
    assert found["message"].endswith(line[-20:])


def test_the_mark_of_a_fix_is_no_part_of_the_message(tmp_path: Path) -> None:
    program = "import torch\nx = torch.ones(3, requires_grad=True).exp().sum()\nx.backward()\nx.backward()\n"
    (tmp_path / "a.py").write_text(program)
    (line,) = printed(tmp_path)
    assert "] [*] `" in line
    assert read(line)["message"].startswith("`x.backward()` needs")


def test_paths_of_windows_are_read() -> None:
    found = read(r"C:\work\train.py:23:5: error[TL102] [*] `history` still carries the graph")
    assert (found["file"], found["line"], found["code"]) == (r"C:\work\train.py", "23", "TL102")


def test_the_page_names_settings_and_commands_that_exist() -> None:
    settings = set(CONTRIBUTED["configuration"]["properties"])
    assert set(re.findall(r"`(tapelint\.[\w.]+)`", PAGE)) - {"tapelint.toml"} == settings
    commands = {f"{command['category']}: {command['title']}" for command in CONTRIBUTED["commands"]}
    assert set(re.findall(r"\*\*(tapelint: [^*]+)\*\*", PAGE)) <= commands


def test_the_page_needs_no_address() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", PAGE)
    assert pictures and all((ROOT / "client" / picture).is_file() for picture in pictures)
    assert not re.findall(r"(?<!!)\[[^\]]+\]\([^)]+\)", PAGE), "a link by a relative address leads nowhere in VS Code"
    assert "](" not in page(PAGE, ""), "a picture that is nowhere is not shown"


def test_pictures_of_the_page_lead_to_the_project_once_it_has_an_address() -> None:
    found = re.findall(r"\]\(([^)]+)\)", page(PAGE, "https://host/owner/tapelint"))
    at = "https://host/owner/tapelint/raw/HEAD/"
    assert found and all(target.startswith(at) and (ROOT / target.removeprefix(at)).is_file() for target in found)
    assert "data:" not in page(PAGE, "") and len(page(PAGE, "")) < len(PAGE)


def test_no_package_of_npm_runs_code_of_its_own_when_it_is_installed() -> None:
    assert "ignore-scripts=true" in (ROOT / ".npmrc").read_text().splitlines()


def test_every_step_of_the_walkthrough_has_pictures_for_every_kind_of_theme() -> None:
    (guide,) = CONTRIBUTED["walkthroughs"]
    images = [step["media"]["image"] for step in guide["steps"] if "image" in step["media"]]
    assert images
    for image in images:
        assert set(image) == {"light", "dark", "hc", "hcLight"}
        assert all((ROOT / file).is_file() for file in image.values())
