"""What a person sees at a terminal: rows that fit, colours and links where they are shown, a story that is folded."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from plain import Tapelint, tapelint_in, variables
from rich.cells import cell_len
from tests import forked

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SAVED = "import torch\n\nw = torch.ones(3, requires_grad=True)\ny = w.exp()\ny += 1\ny.sum().backward()\n"
GOOD = "import torch\n\ntorch.ones(3, requires_grad=True).exp().sum().backward()\n"
PROGRESS = re.compile(r"\r\033\[K(?:checking: [^\r\n]*)?")
ESCAPES = re.compile(r"\033\[[0-9;]*m|\033\]8;[^\033]*\033\\")


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples, and one with wide signs and a long row. They are not changed: only the first run analyses them."""
    folder = tmp_path_factory.mktemp("examples")
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
    wide = SAVED.replace("y += 1", "y += 1  # 変数を その場で 書き換える " + "👨‍👩‍👧 family " * 9).replace("y", "変数")
    (folder / "wide.py").write_text(wide, encoding="utf-8")
    return folder


@pytest.fixture
def there(examples: Path) -> Tapelint:
    """The command line in the folder of the examples."""
    return tapelint_in(examples)


def at_terminal(folder: Path, *arguments: str, **more: str) -> str:
    """What the command line prints to a terminal of 80 columns that can show colours; how far it is, is left out."""
    ours, theirs = pty.openpty()
    env = variables(**{"TERM": "xterm-256color", "COLUMNS": "80", **more})
    running = forked.start("tapelint", *arguments, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=env)
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 4096):
            said += part
    except OSError:  # the other end is closed
        pass
    running.wait(60)
    os.close(ours)
    return PROGRESS.sub("", said.decode().replace("\r\n", "\n"))


@pytest.mark.parametrize("columns", ["60", "80", "120"])
@pytest.mark.parametrize("story", [(), ("--story",)], ids=["folded", "story"])
def test_no_row_is_wider_than_the_terminal(there: Tapelint, columns: str, story: tuple[str, ...]) -> None:
    done = there("check", *story, ".", COLUMNS=columns)
    assert done.returncode == 1 and len(done.stdout.splitlines()) > 100
    wide = [row for row in done.stdout.splitlines() if cell_len(row) > int(columns) and " " in row.strip()]
    assert not wide, "\n".join(wide)
    assert max(map(cell_len, done.stdout.splitlines())) > int(columns) * 0.9


def test_80_columns_where_there_is_no_terminal(there: Tapelint) -> None:
    assert there("check", ".").stdout == there("check", ".", COLUMNS="80").stdout


def steps(printed: str) -> Iterator[list[tuple[str, str]]]:
    """The steps of each finding in what ``--story`` prints: the text without line ends, and the place."""
    for block in printed.split("\n\n")[:-1]:
        _, _, story = block.partition("\nstory:\n")
        found = re.findall(r"^ +\d+\. (.*?)\n *--> (\S+)$", story, re.MULTILINE | re.DOTALL)
        yield [(" ".join(text.split()), place) for text, place in found]


@pytest.mark.parametrize("columns", ["60", "100"])
def test_the_story_is_that_of_json(there: Tapelint, columns: str) -> None:
    shown = there("check", "--story", ".", COLUMNS=columns).stdout
    found = json.loads(there("check", "--output-format", "json", ".").stdout)
    expected = [
        [
            (each["message"], f"{each['filename']}:{each['location']['row']}:{each['location']['column']}")
            for each in finding["related"]
        ]
        for finding in found
    ]
    told = [*steps(shown)]
    assert [each[: len(story)] for each, story in zip(told, expected, strict=True)] == expected
    assert sum(map(len, expected)) > 20
    for each, story, finding in zip(told, expected, found, strict=True):  # what PyTorch raises is the last step
        last = [place for _, place in each[len(story) :]]
        assert last == [place_of(finding)] * len(last) and len(last) <= bool(finding["raises"])


def place_of(finding: dict[str, Any]) -> str:
    return f"{finding['filename']}:{finding['location']['row']}:{finding['location']['column']}"


def test_the_story_is_one_line_where_it_is_not_asked_for(there: Tapelint) -> None:
    found = json.loads(there("check", "--output-format", "json", ".").stdout)
    shown = there("check", ".").stdout
    told = re.findall(r"^story: (\d+) steps?(?:, first)? at (\S+); show with --story$", shown, re.MULTILINE)
    counts = [len(story) for story in steps(there("check", "--story", ".").stdout) if story]
    assert told == [
        (str(count), f"{each['related'][0]['filename']}:{each['related'][0]['location']['row']}")
        for count, each in zip(counts, (each for each in found if each["related"]), strict=True)
    ]


def test_colours_and_links_at_a_terminal(examples: Path) -> None:
    plain = at_terminal(examples, "check", "memory_list.py", NO_COLOR="1", TERM_PROGRAM="WezTerm")
    assert "\033" not in plain and plain.startswith("error[TL102] [*] ")
    coloured = at_terminal(examples, "check", "memory_list.py")
    assert "\033[1;31merror[TL102]" in coloured and "\033]8" not in coloured
    linked = at_terminal(examples, "check", "memory_list.py", TERM_PROGRAM="WezTerm")
    assert f";{(examples / 'memory_list.py').as_uri()}#75\033\\memory_list.py:75:9\033]8;;" in linked
    assert "\033" not in at_terminal(examples, "check", "memory_list.py", TERM="dumb")
    assert ESCAPES.sub("", linked) == ESCAPES.sub("", coloured) == plain


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "--output-format", "concise", "a.py"),
        ("check", "--diff", "a.py"),
        ("explain", "a.py:5"),
        ("rule", "TL201"),
        ("check", "nowhere.py"),
    ],
    ids=lambda arguments: arguments[1].strip("-"),
)
def test_all_that_shows_findings_has_the_same_colours(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "a.py").write_text(SAVED)
    coloured = at_terminal(tmp_path, *arguments)
    plain = at_terminal(tmp_path, *arguments, NO_COLOR="1")
    assert "\033[" in coloured and ESCAPES.sub("", coloured) == plain and "\033" not in plain


def test_a_diff_in_a_pipe_can_be_applied(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SAVED)
    done = tapelint("check", "--diff", "a.py")
    subprocess.run(["patch", "-p0"], input=done.stdout, text=True, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "a.py").read_text() == SAVED.replace("y += 1", "y = y + 1")


def test_the_last_lines_count_what_fix_cures(examples: Path, tmp_path: Path) -> None:
    for name in ("memory_list.py", "tracker_prev_feature.py", "sac_early_step.py", "wide.py"):
        shutil.copy(examples / name, tmp_path)
    tapelint = tapelint_in(tmp_path)
    found = json.loads(tapelint("check", "--output-format", "json", ".").stdout)
    ways = [{fix["applicability"] for fix in each["fixes"]} for each in found]
    safe, unsafe = sum("safe" in each for each in ways), sum(each == {"unsafe"} for each in ways)
    hidden = f"{unsafe} hidden {'fix' if unsafe == 1 else 'fixes'} can be enabled with the `--unsafe-fixes` option"
    last = f"[*] {safe} fixable with the `--fix` option ({hidden})."
    shown = tapelint("check", ".", COLUMNS="120").stdout
    assert shown.endswith(f"\nFound {len(found)} errors in 4 files.\n{last}\n") and safe > 1 and unsafe > 0
    assert shown.count("] [*] ") == safe
    assert tapelint("check", "--output-format", "concise", ".").stdout.count("] [*] ") == safe
    assert tapelint("check", "--statistics", ".", COLUMNS="120").stdout.endswith(f"{last}\n")
    asked = tapelint("check", "--unsafe-fixes", ".").stdout
    assert asked.endswith(f"\n[*] {safe + unsafe} fixable with the `--fix` option.\n")
    fixed = tapelint("check", "--fix", ".", COLUMNS="120").stdout
    assert fixed.endswith(f"\nNo fixes available ({hidden}).\n") and f"Fixed {safe} findings." in fixed


def test_rich_is_loaded_only_where_a_finding_is_printed(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(SAVED)
    (tmp_path / "good.py").write_text(GOOD)

    def loads(name: str, form: str, **environment: str) -> bool:
        environment["PYTHONPROFILEIMPORTTIME"] = "1"
        done = tapelint("check", "--no-cache", "--output-format", form, name, **environment)
        assert "tapelint.cli.file_check" in done.stderr
        return re.search(r"\| +rich", done.stderr) is not None

    assert not loads("good.py", "full", FORCE_COLOR="1")
    assert loads("bad.py", "full") and not loads("bad.py", "concise")


def test_a_cached_result_is_shown_as_this_terminal_wants_it(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SAVED)
    fresh = [tapelint("check", "--no-cache", "a.py", COLUMNS=columns).stdout for columns in ("60", "120")]
    assert [tapelint("check", "a.py", COLUMNS=columns).stdout for columns in ("60", "120")] == fresh
    assert "not checked again" in tapelint("check", "--log-level", "debug", "--story", "a.py").stderr
    assert "\nstory:\n" in tapelint("check", "--story", "a.py").stdout
