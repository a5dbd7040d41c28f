"""``follow-installed``: what the code of installed libraries does to a program's tensors is seen where it is wanted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from plain import Tapelint
from tests.installed_programs import PROGRAMS, installed_in


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The programs, beside an environment with the library."""
    installed_in(tmp_path / ".venv" / "lib" / "python3.12" / "site-packages")
    for name, (text, _) in PROGRAMS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def _found(tapelint: Tapelint, name: str) -> list[tuple[str, str, int]]:
    done = tapelint("check", "--output-format", "json", name)
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert all(each["filename"].endswith(name) for each in found)
    return [(each["code"], each["severity"], each["location"]["row"]) for each in found]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_code_of_a_library_is_followed(project: Path, tapelint: Tapelint, name: str) -> None:
    (project / "tapelint.toml").write_text("follow-installed = true\n")
    assert _found(tapelint, name) == PROGRAMS[name][1]


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_not_followed_unless_that_is_wanted(project: Path, tapelint: Tapelint, name: str) -> None:
    assert _found(tapelint, name) == []


def test_what_the_library_is_not_sure_of_does_not_end_the_program(project: Path, tapelint: Tapelint) -> None:
    """A library works: an error of Python that its code seems to raise is a fault of the analysis."""
    (project / "tapelint.toml").write_text("follow-installed = true\n")
    package = project / ".venv" / "lib" / "python3.12" / "site-packages" / "lossy"
    (package / "__init__.py").write_text("def check(x):\n    raise TypeError('unsupported')\n")
    (project / "checked.py").write_text(
        "import torch\nfrom lossy import check\nw = torch.ones(3, requires_grad=True)\ny = w.exp()\ncheck(y)\n"
        "loss = w.sum()\nloss.backward()\nloss.detach_()\nw.exp().detach().sum().backward()\n"
    )
    assert ("TL301", "error", 9) in _found(tapelint, "checked.py")
