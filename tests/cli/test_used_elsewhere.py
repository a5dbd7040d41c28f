"""A function that the project uses only where gradients are off is not judged as if they were on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

VALIDATION = """import torch


def validate(net, loader):
    net.eval()
    total = 0.0
    for x, y in loader:
        total += torch.nn.functional.mse_loss(net(x), y).item()
    return total


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)

    def renormalise(self):
        self.layer.weight.mul_(0.5)
"""
TRAINING = """import torch
from validation import Scale, validate


def train(net, loader, epochs):
    scale = Scale()
    for epoch in range(epochs):
        with torch.no_grad():
            validate(net, loader)
            scale.renormalise()
"""
THROUGH_ANOTHER = """import torch
from validation import validate


def check(net, loader):
    print(validate(net, loader))


@torch.no_grad()
def once(net, loader):
    check(net, loader)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "validation.py").write_text(VALIDATION)
    (tmp_path / "training.py").write_text(TRAINING)
    return tmp_path


def found(tapelint, *arguments: str) -> list[tuple[str, int]]:
    done = tapelint("check", "--output-format", "json", *arguments)
    return [(item["code"], item["location"]["row"]) for item in json.loads(done.stdout) if item["severity"] != "hint"]


BOTH = [("TL406", 8), ("TL203", 18)]


def test_alone_it_is_judged_with_gradients(project: Path, tapelint) -> None:
    (project / "training.py").unlink()
    assert found(tapelint, "validation.py") == BOTH


@pytest.mark.parametrize("where", [["validation.py"], ["."]])
def test_what_is_called_under_no_grad_only_is_silent(project: Path, tapelint, where: list[str]) -> None:
    assert found(tapelint, *where) == []


def test_what_its_callers_use_has_no_gradients_either(project: Path, tapelint) -> None:
    (project / "training.py").write_text(THROUGH_ANOTHER)
    assert ("TL406", 8) not in found(tapelint, "validation.py")


@pytest.mark.parametrize(
    "use",
    [
        "\n\ndef test(net, loader):\n    return validate(net, loader)\n",
        "\n\nEVALUATIONS = {'default': validate}\n",
    ],
)
def test_one_use_with_gradients_is_enough(project: Path, tapelint, use: str) -> None:
    (project / "training.py").write_text(TRAINING + use)
    assert found(tapelint, "validation.py") == [BOTH[0]]


def test_a_user_may_be_any_file(project: Path, tapelint) -> None:
    (project / "tools").mkdir()
    (project / "tools" / "report.py").write_text("import validation\n\nprint(validation.validate(None, []))\n")
    assert found(tapelint, "validation.py") == [BOTH[0]]


def test_callers_can_be_left_out(project: Path, tapelint) -> None:
    (project / "tapelint.toml").write_text("callers = false\n")
    assert found(tapelint, "validation.py") == BOTH


def test_the_cache_knows_who_uses_a_file(project: Path, tapelint) -> None:
    assert found(tapelint, "validation.py") == []
    (project / "training.py").write_text(TRAINING.replace("with torch.no_grad()", "if epoch"))
    assert found(tapelint, "validation.py") == BOTH
    (project / "training.py").write_text(TRAINING)
    assert found(tapelint, "validation.py") == []
