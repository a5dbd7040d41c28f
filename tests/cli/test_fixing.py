"""``--fix`` changes what it means to and nothing else; ``--diff`` changes nothing."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from plain import Tapelint

from tapelint.analysis import analyse
from tapelint.analysis.fix_all import repair
from tapelint.report import Fix
from tapelint.report.diagnostic import unasked

BAD = """\
import torch

x = torch.ones(3, requires_grad=True)
y = x.exp()
y += 1  # kept \u00e9
y.sum().backward()
w = torch.ones(3, requires_grad=True)
v = w.exp()
v += 1
v.sum().backward()
"""
FIXED = BAD.replace("y += 1", "y = y + 1").replace("v += 1", "v = v + 1")
HOPELESS = "import torch\ntorch.ones(3).sum().backward()\n"


@pytest.mark.parametrize(
    ("encoding", "first", "ends"),
    [
        ("utf-8", "", "\n"),
        ("utf-8", "", "\r\n"),
        ("utf-8", "", "\r"),
        ("utf-8-sig", "", "\n"),
        ("latin-1", "# -*- coding: latin-1 -*-\n", "\r\n"),
    ],
)
def test_fix_changes_only_its_edits(tapelint: Tapelint, tmp_path: Path, encoding: str, first: str, ends: str) -> None:
    file = tmp_path / "bad.py"
    file.write_bytes((first + BAD).replace("\n", ends).encode(encoding))
    file.chmod(0o751)
    done = tapelint("check", "--fix", "bad.py")
    assert (done.returncode, done.stdout) == (0, "Fixed 2 findings. Nothing left in 1 file.\n")
    assert file.read_bytes() == (first + FIXED).replace("\n", ends).encode(encoding)
    assert stat.S_IMODE(file.stat().st_mode) == 0o751
    assert os.listdir(tmp_path) == ["bad.py"]


def test_findings_without_a_fix_stay(tapelint: Tapelint, tmp_path: Path) -> None:
    file = tmp_path / "both.py"
    file.write_text(HOPELESS)
    done = tapelint("check", "--fix", "both.py")
    assert (done.returncode, file.read_text()) == (1, HOPELESS)
    assert "TL301" in done.stdout and "Fixed" not in done.stdout


def test_unsafe_fixes_need_the_option() -> None:
    safe, unsafe = Fix("a", "safe", False, ()), Fix("b", "unsafe", True, ())
    assert unasked([unsafe], False) is None
    assert unasked([unsafe], True) is unsafe
    assert unasked([unsafe, safe], False) is safe
    assert unasked([], True) is None


def test_fixes_repeat_until_none_is_left() -> None:
    """A path ends at its first error: what is behind it shows only when that is fixed."""
    text = BAD.replace("y.sum().backward()\n", "y.sum().backward()\ny.mean().backward()\n")
    repaired = repair(analyse(text), unsafe=False)
    assert repaired.fixes >= 2
    assert not repaired.report.diagnostics


def test_diff_writes_nothing(tapelint: Tapelint, tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    file.write_text(BAD.rstrip("\n"))
    before = file.read_bytes()
    done = tapelint("check", "--diff", "bad.py")
    assert done.returncode == 1
    assert done.stderr == "Would fix 2 findings.\n"
    assert "-y += 1" in done.stdout and "+y = y + 1" in done.stdout and "[TL201]" not in done.stdout
    assert done.stdout.endswith("\\ No newline at end of file\n")
    assert file.read_bytes() == before
    file.write_text(FIXED)
    assert tapelint("check", "--diff", "bad.py").returncode == 0


def test_fixing_stdin_writes_stdout(tapelint: Tapelint, tmp_path: Path) -> None:
    done = tapelint("check", "--fix", "-", stdin=BAD.encode())
    assert (done.returncode, done.stdout) == (0, FIXED)
    assert "Fixed 2 findings" in done.stderr
    assert tapelint("check", "--fix", "-", stdin=b"print(1)\n").stdout == "print(1)\n"


def test_fixing_keeps_symbolic_links(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "bad.py").write_text(BAD)
    (tmp_path / "link.py").symlink_to(tmp_path / "real" / "bad.py")
    assert tapelint("check", "--fix", "link.py").returncode == 0
    assert (tmp_path / "link.py").is_symlink()
    assert (tmp_path / "real" / "bad.py").read_text() == FIXED


def test_unused_suppressions_are_removed_if_selected(tapelint: Tapelint, tmp_path: Path) -> None:
    file = tmp_path / "quiet.py"
    file.write_text("import torch\nx = torch.ones(3)  # tapelint: ignore[TL201, TL101]\n")
    assert tapelint("check", "quiet.py").returncode == 0
    tapelint("check", "--fix", "--select", "TL901", "quiet.py")
    assert file.read_text() == "import torch\nx = torch.ones(3)\n"


EVALUATION = """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
data = [(torch.randn(2, 4), torch.randn(2, 1)) for _ in range(4)]


def train(x, y):
    opt.zero_grad()
    loss = (net(x) - y).pow(2).mean()
    loss.backward()
    opt.step()


def evaluate():
    net.eval()
    total, outs, targets = 0, [], []
    for x, y in data:
        out = net(x)
        BODY
    return total / len(outs), outs, targets


for epoch in range(3):
    net.train()
    for x, y in data:
        train(x, y)
    evaluate()
"""

BODIES = [
    ["loss = (out - y).pow(2).mean()", "total += loss", "outs.append(out)", "targets.append(out * 2)"],
    ["outs.append(out.numpy())", "hits = ((out > 0) == (y > 0)).sum()", "targets.append((out * 2).numpy())"],
    ["out = out * 2", "outs.append(out.numpy())", "total += out.sum().numpy()"],
]


@pytest.mark.parametrize("body", BODIES)
def test_fixes_do_not_pile_up(body: list[str]) -> None:
    """Under ``no_grad``, which the last round puts around the loop, nothing need be detached."""
    text = EVALUATION.replace("BODY", "\n        ".join(body))
    after = repair(analyse(text), unsafe=False).report
    assert not after.diagnostics
    assert after.source.text.count("no_grad") == 1 and "detach" not in after.source.text
    assert "            " + "\n            ".join(body) in after.source.text


def test_fixes_that_are_needed_stay() -> None:
    after = repair(analyse(BAD), unsafe=False)
    assert (after.report.source.text, after.fixes) == (FIXED, 2)
