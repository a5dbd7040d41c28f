"""Git in a folder, and programs to check."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TAG = "v0.1.0"
GOOD = "import torch\n\nw = torch.ones(3, requires_grad=True)\nw.exp().sum().backward()\n"
BAD = GOOD + "w += 1\n"
"""PyTorch raises: a leaf that requires grad is written in place (TL203). There is no safe fix."""
FIXABLE = "import torch\n\nw = torch.ones(3, requires_grad=True)\na = w.exp()\na += 1\na.sum().backward()\n"
"""TL201, with a safe fix."""


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder, as nobody in particular; what it prints."""
    who = {f"GIT_{role}_{what}": "test" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env={**os.environ, **who}, capture_output=True, text=True, check=True
    )
    return done.stdout
