"""The command line as scripts and CI rely on it: exit status, streams, formats."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from plain import Tapelint

from tapelint import __version__

SERVER = Path(__file__).resolve().parents[2] / "server"
BAD = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
y += 1
y.sum().backward()
"""
GOOD = BAD.replace("x.exp()", "x * 2")


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    file = tmp_path / "bad.py"
    file.write_text(BAD)
    return file


def test_exit_status_without_findings(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text(GOOD)
    done = tapelint("check", "good.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Nothing found in 1 file.\n", "")


def test_full_output(tapelint: Tapelint, bad: Path) -> None:
    done = tapelint("check", "bad.py")
    assert done.returncode == 1
    assert done.stderr == ""
    assert done.stdout.startswith("error[TL201] [*] Writes `y` in place")
    assert "y = x.exp()" in done.stdout
    assert "Found 1 error in 1 file." in done.stdout
    assert "\033" not in done.stdout
    assert "\033[" in tapelint("check", "bad.py", FORCE_COLOR="1").stdout


def test_json_output(tapelint: Tapelint, bad: Path) -> None:
    done = tapelint("check", "--output-format", "json", "bad.py")
    assert done.returncode == 1
    (finding,) = json.loads(done.stdout)
    assert set(finding) >= {
        "code",
        "name",
        "severity",
        "message",
        "filename",
        "location",
        "end_location",
        "related",
        "fixes",
        "no_fix",
        "url",
    }
    assert finding["name"] == "saved-tensor-modified"
    assert finding["severity"] == "error"
    assert finding["filename"] == "bad.py"
    assert all({"message", "short", "filename", "location", "end_location"} <= set(step) for step in finding["related"])
    assert {step["location"]["row"] for step in finding["related"]} | {finding["location"]["row"]} >= {4, 5}
    for fix in finding["fixes"]:
        assert set(fix) == {"title", "effect", "applicability", "manual", "preferred", "edits"}
        assert fix["applicability"] in ("safe", "unsafe")
        assert fix["manual"] is False


def test_json_of_nothing_is_an_empty_array(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "empty.py").touch()
    done = tapelint("check", "--output-format=json", "empty.py")
    assert (done.returncode, json.loads(done.stdout)) == (0, [])


def test_concise_output(tapelint: Tapelint, bad: Path) -> None:
    (line,) = tapelint("check", "--output-format=concise", "bad.py").stdout.splitlines()
    assert line.startswith(("bad.py:6:", "bad.py:5:"))


def test_exit_zero(tapelint: Tapelint, bad: Path) -> None:
    assert tapelint("check", "--exit-zero", "bad.py").returncode == 0


def test_standard_input(tapelint: Tapelint, tmp_path: Path) -> None:
    done = tapelint("check", "-", "--stdin-filename", "src/model.py", "--output-format=json", stdin=BAD.encode())
    assert done.returncode == 1
    assert json.loads(done.stdout)[0]["filename"] == "src/model.py"


def test_a_missing_path_does_not_hide_the_others(tapelint: Tapelint, bad: Path) -> None:
    done = tapelint("check", "nowhere", "bad.py", "--output-format=json")
    assert done.returncode == 2
    assert "nowhere: no such file or folder" in done.stderr
    assert len(json.loads(done.stdout)) == 1


@pytest.mark.parametrize(
    ("data", "status", "said"),
    [
        (b"\x7fELF\0\0torch", 2, "binary"),
        (b"# torch \xe9\n", 2, "not valid utf-8"),
        (b"# -*- coding: latin-1 -*-\nimport torch  # \xe9\n", 0, ""),
        (b"", 0, ""),
        (b"\xef\xbb\xbf" + BAD.encode(), 1, ""),
        (BAD.replace("\n", "\r\n").encode(), 1, ""),
        (BAD.replace("\n", "\r").encode(), 1, ""),
        (
            BAD.encode() + b"z = (\n",
            1,
            "file.py:7:5: Syntax error: '(' was never closed; the rest of the file was checked",
        ),
        (b"import torch\nx = " + b"[" * 5000 + b"]" * 5000 + b"\n", 1, "file.py:2"),
        (b"import torch\n" * 200_000, 2, "too large"),
    ],
    ids=["binary", "undecodable", "latin-1", "empty", "bom", "crlf", "cr", "syntax", "deep", "large"],
)
def test_odd_files(tapelint: Tapelint, tmp_path: Path, data: bytes, status: int, said: str) -> None:
    (tmp_path / "file.py").write_bytes(data)
    done = tapelint("check", "file.py")
    assert (done.returncode, done.stderr == "") == (status, said == "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_select_and_ignore(tapelint: Tapelint, bad: Path) -> None:
    (finding,) = json.loads(tapelint("check", "bad.py", "--output-format=json").stdout)
    code = finding["code"]
    assert tapelint("check", "bad.py", "--ignore", code).returncode == 0
    assert tapelint("check", "bad.py", "--select", code).returncode == 1
    done = tapelint("check", "bad.py", "--select", "TL999")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "error: --select: no rule has the code 'TL999'; `tapelint rule` lists the codes" in done.stderr
    near = tapelint("check", "bad.py", "--select", "TL291").stderr
    assert "did you mean 'TL201' or 'TL211'?" in near


def test_configuration(tapelint: Tapelint, bad: Path, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.tapelint]\nignore = ["TL"]\n')
    assert tapelint("check", "bad.py").returncode == 0
    (tmp_path / "pyproject.toml").write_text("[tool.tapelint]\nrules = 1\n")
    done = tapelint("check", "bad.py")
    assert done.returncode == 2
    assert "unknown key 'rules'" in done.stderr
    assert "pyproject.toml" in done.stderr


def test_suppressed_findings_are_not_printed(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "quiet.py").write_text("# tapelint: ignore-file\n" + BAD)
    assert tapelint("check", "quiet.py").returncode == 0


def test_many_files_in_a_stable_order(tapelint: Tapelint, tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"m{number:02}.py").write_text(BAD if number % 3 == 0 else GOOD)
    one, many = (tapelint("check", "--jobs", jobs, "--output-format=json") for jobs in ("1", "3"))
    assert one.returncode == many.returncode == 1
    assert one.stdout == many.stdout
    assert [finding["filename"] for finding in json.loads(many.stdout)] == ["m00.py", "m03.py", "m06.py", "m09.py"]


def test_a_folder_without_python(tapelint: Tapelint) -> None:
    done = tapelint("check", ".")
    assert done.returncode == 0
    assert "no Python files" in done.stderr


def test_rule_command(tapelint: Tapelint) -> None:
    listed = tapelint("rule")
    assert listed.returncode == 0
    code, name = listed.stdout.splitlines()[0].partition(":")[0].split()
    shown = tapelint("rule", code)
    assert shown.returncode == 0
    assert shown.stdout.startswith(f"{code} {name}\n")
    page = tapelint("rule", "TL201").stdout
    for part in ("  severity  ", "“one of the variables", "tapelint: ignore[TL201]", "\nExample\n", "# <- error"):
        assert part in page
    assert tapelint("rule", name).stdout == shown.stdout
    unknown = tapelint("rule", "TL999")
    assert unknown.returncode == 2
    assert "no rule 'TL999'; `tapelint rule` lists the codes" in unknown.stderr


def test_version_option(tapelint: Tapelint) -> None:
    assert tapelint("version").stdout == tapelint("--version").stdout == f"tapelint {__version__}\n"


def test_usage_errors(tapelint: Tapelint) -> None:
    for arguments in (["check", "--output-format=xml"], ["frobnicate"], ["check", "--jobs", "0"]):
        done = tapelint(*arguments)
        assert done.returncode == 2
        assert "Usage" in done.stderr


def test_output_encoding_without_unicode(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "größe.py").write_text(BAD.replace("y", "größe"), encoding="utf-8")
    done = tapelint("check", "größe.py", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert done.returncode == 1
    assert "gr\\xf6\\xdfe" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="a shell's pipe")
def test_broken_pipe_is_no_error(tapelint: Tapelint, bad: Path, tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"m{number}.py").write_text(BAD)
    command = f"PYTHONPATH={SERVER} {sys.executable} -m tapelint check . | true"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_clean_check_imports_no_heavy_library(tapelint: Tapelint, bad: Path, tmp_path: Path) -> None:
    """Neither parsers of comments nor the protocol, and for a file without torch not even the engine."""
    (tmp_path / "plain.py").write_text("print(1)\n")
    heavy = {"torch", "jedi", "parso", "pygls", "lsprotocol", "asyncio", "tapelint.lsp"}
    engine = {"tapelint.interpreter", "tapelint.engine", "tapelint.ops"}
    for file, unwanted in (("plain.py", heavy | engine), ("good.py", heavy)):
        (tmp_path / "good.py").write_text(GOOD)
        done = tapelint("check", file, PYTHONPROFILEIMPORTTIME="1")
        assert done.returncode == 0
        loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        assert not loaded & unwanted


def processor_time() -> float:
    """Seconds that processes we started and waited for have used: other people's work does not count."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def test_a_cold_start_is_short(tapelint: Tapelint, tmp_path: Path) -> None:
    """About twenty times what Python alone takes to start, which is a quarter of a second; the bound is twice that."""
    (tmp_path / "good.py").write_text(GOOD)
    tapelint("check", "good.py", cold=True)
    ratios = []
    for _ in range(5):
        begin = processor_time()
        assert tapelint("check", "good.py", cold=True).returncode == 0
        between = processor_time()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        ratios.append((between - begin) / (processor_time() - between))
    assert sorted(ratios)[2] < 40, ratios


def test_how_much_was_followed(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "seen.py").write_text("import torch\ntorch.ones(2, requires_grad=True).sum().backward()\n")
    (tmp_path / "unseen.py").write_text("import torch, lib\nloss = lib.loss()\nloss.backward()\n")
    said = tapelint("check", ".", "--stats").stderr.splitlines()
    unknown = "`loss` is unknown: nothing is known of `lib.loss`, which comes from `lib`"
    assert said[:2] == [
        "seen.py: 1 of 1 backward call followed",
        f"unseen.py: 0 of 1 backward call followed: {unknown}",
    ]


UNSEEN = "import torch, lib\n\n\ndef train(batch):\n    loss = lib.loss(batch)\n    loss.backward()\n"


def test_where_nothing_was_followed_and_nothing_found(tapelint: Tapelint, tmp_path: Path) -> None:
    """A line for each such file says where the graph became unknown, in the formats that people read."""
    (tmp_path / "seen.py").write_text("import torch\ntorch.ones(2, requires_grad=True).sum().backward()\n")
    (tmp_path / "bad.py").write_text(BAD + UNSEEN)
    (tmp_path / "none.py").write_text("import torch\n# backward\n")
    (tmp_path / "unseen.py").write_text(UNSEEN)
    line = "note: unseen.py:5:12: 0 of 1 backward call followed: `loss` is unknown: "
    for options in ((), ("--output-format", "concise"), ("--no-cache",)):
        (said,) = tapelint("check", ".", *options).stderr.splitlines()
        assert said.startswith(line)
    done = tapelint("check", "--output-format", "json", "unseen.py")
    assert (json.loads(done.stdout), done.stderr, done.returncode) == ([], "", 0)
    assert tapelint("check", "--quiet", "unseen.py").stderr == ""
    assert tapelint("check", "unseen.py").returncode == 0


def test_where_nothing_was_followed_in_many_files(tapelint: Tapelint, tmp_path: Path) -> None:
    """Each cause takes another execution: a run over many files counts them, and says how to learn it."""
    for number in range(9):
        (tmp_path / f"unseen{number}.py").write_text(UNSEEN)
    (said,) = tapelint("check", ".").stderr.splitlines()
    assert said == (
        "note: no backward call in unseen0.py and 8 other files was followed: `tapelint check --stats FILE` says why"
    )
    assert "`loss` is unknown" in tapelint("check", "--stats", "unseen3.py").stderr
    assert "`loss` is unknown" in tapelint("check", "unseen3.py").stderr


def test_what_files_that_use_it_follow_counts(tapelint: Tapelint, tmp_path: Path) -> None:
    text = "import torch\n\n\ndef step(parts):\n    loss = parts['loss']\n    loss.backward()\n"
    (tmp_path / "lib.py").write_text(text)
    assert "0 of 1 backward call followed" in tapelint("check", "lib.py").stderr
    use = "import torch\nfrom lib import step\n\nnet = torch.nn.Linear(3, 1)\n"
    use += "step({'loss': net(torch.ones(2, 3)).sum()})\n"
    (tmp_path / "train.py").write_text(use)
    assert tapelint("check", "lib.py").stderr == ""
    assert tapelint("check", ".").stderr == ""
    said = tapelint("check", "--stats", "lib.py").stderr
    assert "; files that use it follow 1 more" in said and "reached_by_callers: 1" in said
