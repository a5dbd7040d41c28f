"""A function that the project uses only where gradients are off is not judged as if they were on; nor one that other
files use as if its caller's tensors required grad: they show what they give it.
"""

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


WEIGHTS = """import torch


def weights(counts: torch.Tensor):
    found = torch.clamp(counts.max() / counts, max=9.0)
    found /= found.max()
    return found


class Weights:
    def of(self, counts: torch.Tensor):
        found = torch.clamp(counts.max() / counts, max=9.0)
        found /= found.max()
        return found
"""
USES = {
    "of data": "from weights import weights\n\nprint(weights(torch.rand(3)))\n",
    "of what is unknown": "from weights import weights\n\ndef show(path):\n    print(weights(torch.load(path)))\n",
    "in a table": "import weights\n\nWAYS = {'inverse': weights.weights}\n",
}
LEAF = "from weights import weights\n\nx = torch.rand(3, requires_grad=True)\nweights(x).sum().backward()\n"


@pytest.fixture
def helper(tmp_path: Path) -> Path:
    (tmp_path / "weights.py").write_text(WEIGHTS)
    return tmp_path


def test_a_function_that_no_file_uses_is_given_what_requires_grad(helper: Path, tapelint) -> None:
    (helper / "imports.py").write_text("import torch\nfrom weights import weights\n\n__all__ = ['weights']\n")
    assert found(tapelint, "weights.py") == [("TL201", 6), ("TL201", 13)]


@pytest.mark.parametrize("use", USES)
def test_one_that_other_files_use_is_given_what_they_give_it(helper: Path, tapelint, use: str) -> None:
    (helper / "use.py").write_text(f"import torch\n{USES[use]}")
    assert found(tapelint, "weights.py") == [("TL201", 13)]


def test_a_caller_whose_tensors_require_grad_shows_it(helper: Path, tapelint) -> None:
    (helper / "use.py").write_text(f"import torch\n{LEAF}")
    assert ("TL201", 6) in found(tapelint, "weights.py")


def test_tests_do_not_show_what_a_caller_gives(helper: Path, tapelint) -> None:
    (helper / "test_use.py").write_text(f"import torch\n{USES['of data']}\ndef test_it():\n    assert True\n")
    assert ("TL201", 6) in found(tapelint, "weights.py")


def test_a_method_that_other_files_call_is_given_what_they_give_it(helper: Path, tapelint) -> None:
    (helper / "use.py").write_text("import torch\nfrom weights import Weights\n\nprint(Weights().of(torch.rand(3)))\n")
    assert found(tapelint, "weights.py") == [("TL201", 6)]


OWN = """import torch


class Weights(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rates = torch.nn.Parameter(torch.ones(3))

    def of(self, counts: torch.Tensor):
        found = torch.exp(self.rates)
        found /= found.max()
        return found * counts
"""
TAKEN = "import torch\nfrom weights import Weights\n\ntable, x = Weights(), torch.rand(3)\n"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """What shows the hazard is a parameter: no caller has to give anything that requires grad."""
    (tmp_path / "weights.py").write_text(OWN)
    return tmp_path


@pytest.mark.parametrize(
    "takes", ["print(table.of(x).detach().numpy())", "print(table.of(x).cpu().data.mean())", "table.of(x).sum().item()"]
)
def test_callers_that_take_the_numbers_go_backward_through_nothing(own: Path, tapelint, takes: str) -> None:
    (own / "use.py").write_text(f"{TAKEN}{takes}\nwith torch.no_grad():\n    y = table.of(x)\n")
    assert found(tapelint, "weights.py") == []


@pytest.mark.parametrize("takes", ["y = table.of(x)", "print(table.of(x.detach()))", "print(table.of(x) + x.data)"])
def test_one_that_does_not_is_enough(own: Path, tapelint, takes: str) -> None:
    (own / "use.py").write_text(f"{TAKEN}print(table.of(x).item())\n{takes}\n")
    assert found(tapelint, "weights.py") == [("TL201", 11)]


ROUNDS = """import torch
import torch.nn.functional as F


def train_epoch(net, optimizer, loader):
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(net(x), y).backward()
        optimizer.step()


def validate(net, loader):
    torch.set_grad_enabled(False)
    return sum(F.mse_loss(net(x), y).item() for x, y in loader)
"""
SCRIPT = """import torch
import rounds

ROUNDS = {"plain": (rounds.train_epoch, rounds.validate)}


def run(net, optimizer, loader, name):
    train_epoch, validate = ROUNDS[name]
    for epoch in range(3):
"""


@pytest.mark.parametrize(
    ("first", "told"),
    [("pass", [("TL308", 13)]), ("torch.set_grad_enabled(True)", [])],
    ids=["gradients stay off", "the caller switches them on"],
)
def test_rounds_that_other_files_run_are_judged_in_turn(
    tmp_path: Path, tapelint, first: str, told: list[object]
) -> None:
    (tmp_path / "rounds.py").write_text(ROUNDS)
    calls = "".join(
        f"        {each}\n" for each in (first, "train_epoch(net, optimizer, loader)", "validate(net, loader)")
    )
    (tmp_path / "script.py").write_text(SCRIPT + calls)
    assert found(tapelint, "rounds.py") == told
