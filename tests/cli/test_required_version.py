"""``required-version``: another version of tapelint does nothing, and says so with status 2, as ruff does."""

from __future__ import annotations

import pytest
from plain import Plain

PROGRAM = "import torch\nx = torch.ones(3)\n"


@pytest.mark.parametrize(
    ("setting", "status"),
    [(">=0.0.0.dev0", 0), (">=0.0.0.dev0, !=99.*", 0), (">=99", 2), ("99", 2), ("newest", 2), ("", 2)],
)
def test_a_version_is_required(plain: Plain, setting: str, status: int) -> None:
    plain.write("a.py", PROGRAM)
    plain.write("tapelint.toml", f'required-version = "{setting}"\n')
    done = plain("check", ".")
    assert done.returncode == status
    assert ("tapelint.toml:1: required" in done.stderr) == (status == 2)
    assert plain("check", "--isolated", ".").returncode == 0


def test_a_setting_that_only_another_version_knows(plain: Plain) -> None:
    plain.write("a.py", PROGRAM)
    plain.write("tapelint.toml", 'unheard-of = 1\nrequired-version = ">=99"\n')
    done = plain("check", ".")
    assert done.returncode == 2
    assert "required version `>=99`" in done.stderr and "unheard-of" not in done.stderr


def test_what_is_extended_requires_it(plain: Plain) -> None:
    plain.write("a.py", PROGRAM)
    plain.write("base.toml", 'required-version = ">=99"\n')
    plain.write("tapelint.toml", 'extend = "base.toml"\nrequired-version = ">=0.0.0.dev0"\n')
    done = plain("check", ".")
    assert done.returncode == 2 and "base.toml:1: required version `>=99`" in done.stderr


def test_the_command_line_requires_it(plain: Plain) -> None:
    plain.write("a.py", PROGRAM)
    done = plain("check", "--isolated", "--config", "required-version = '>=99'", ".")
    assert done.returncode == 2 and "--config: required version `>=99`" in done.stderr
