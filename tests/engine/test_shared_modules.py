"""Modules that one analysis has executed are taken over by the next, and what is reported is the same as without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import permutations

import pytest

from tapelint.analysis import Report, SharedModules, analyse
from tapelint.engine.limits import Limits
from tapelint.modules import loader
from tapelint.workspace import Config

HELPERS = """\
import torch
from settings import WIDTH
weight = torch.ones(WIDTH, requires_grad=True)
kept = []

def step(x):
    loss = (weight * x).exp().sum()
    loss.backward()
    kept.append(loss)
    return loss
"""
MODELS = """\
from torch import nn
from settings import WIDTH
import helpers

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        helpers.step(x)
        return self.layer(x).exp_().mul_(2)
"""
PROJECT = {
    "settings.py": "WIDTH = 3\n",
    "helpers.py": HELPERS,
    "models.py": MODELS,
    "train.py": "import torch\nfrom helpers import step\nloss = step(torch.ones(3))\nloss.backward()\n",
    "both.py": "import torch\nimport models\nnet = models.Net()\nnet(torch.ones(3)).sum().backward()\n",
    "write.py": "import torch, helpers\nhelpers.kept = None\ny = helpers.weight.exp()\ny += 1\ny.sum().backward()\n",
    "switch.py": "import torch\nimport off\nfrom helpers import weight\n(weight * 2).sum().backward()\n",
    "off.py": "import torch\ntorch.set_grad_enabled(False)\n",
    "ring.py": "import torch\nimport round\nround.turn(torch.ones(3, requires_grad=True))\n",
    "round.py": "import ring\nimport torch\ndef turn(x):\n    y = x.exp()\n    y += 1\n    y.sum().backward()\n",
}


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often the top level of each module was executed."""
    found = Counter[str]()
    top_level = loader.top_level

    def counted(machine, state, module, limit):  # type: ignore[no-untyped-def]
        found[module.path] += 1
        return top_level(machine, state, module, limit)

    monkeypatch.setattr(loader, "top_level", counted)
    yield found


def report(
    name: str,
    files: Mapping[str, str],
    shared: SharedModules | None,
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    config: Config = Config(),  # noqa: B008 (frozen)
) -> Report:
    def resolve(module: str, importer: str) -> tuple[str, str] | None:
        path = module.lstrip(".").replace(".", "/") + ".py"
        return (path, files[path]) if path in files else None

    return analyse(files[name], name, config, resolve=resolve, limits=limits, shared=shared)


def seen(found: Report) -> tuple[object, ...]:
    return (
        found.diagnostics,
        found.elsewhere,
        found.stats,
        found.notices,
        found.reach,
        found.imagined,
        found.trained,
        found.imports,
        sorted(found.others),
    )


@pytest.mark.parametrize("names", [*permutations(["train.py", "both.py", "write.py", "switch.py"])], ids=" ".join)
def test_the_order_of_files_changes_nothing(names: tuple[str, ...]) -> None:
    shared = SharedModules()
    for name in (*names, "helpers.py", "ring.py", "models.py", "round.py", *names):
        assert seen(report(name, PROJECT, shared)) == seen(report(name, PROJECT, None)), name


def test_a_module_is_executed_once(executed: Counter[str]) -> None:
    shared = SharedModules()
    for name in ("train.py", "both.py", "write.py"):
        report(name, PROJECT, shared)
    assert executed == {"helpers.py": 1, "settings.py": 1, "models.py": 1}


def test_a_new_text_is_executed_and_what_was_not_yet_imported_as_well(executed: Counter[str]) -> None:
    shared = SharedModules()
    assert [d.code for d in report("train.py", PROJECT, shared).diagnostics] == ["TL101"]
    edited = {**PROJECT, "settings.py": "WIDTH = 4\n"}
    assert seen(report("train.py", edited, shared)) == seen(report("train.py", edited, None))
    executed.clear()
    cured = {**edited, "helpers.py": HELPERS.replace("loss.backward()", "pass")}
    assert not report("train.py", cured, shared).diagnostics
    assert executed == {"helpers.py": 1, "settings.py": 1}


def test_an_import_that_means_something_else_now(executed: Counter[str]) -> None:
    shared = SharedModules()
    files = {
        "use.py": "import torch\nimport middle\n",
        "middle.py": "import torch\ntry:\n    import extra\nexcept ImportError:\n    extra = None\nw = extra\n",
    }
    report("use.py", files, shared)
    more = {**files, "extra.py": "import torch\nv = torch.ones(1)\n"}
    assert seen(report("use.py", more, shared)) == seen(report("use.py", more, None))
    assert executed["middle.py"] == 3


def test_the_analysed_file_is_no_module_of_another_one() -> None:
    shared = SharedModules()
    for name in ("both.py", "helpers.py", "both.py", "models.py", "ring.py", "round.py", "ring.py"):
        assert seen(report(name, PROJECT, shared)) == seen(report(name, PROJECT, None)), name


@pytest.mark.parametrize("fuel", [1, 3, 6, 10, 20])
def test_less_fuel_ends_the_same_modules(fuel: int) -> None:
    limits = replace(Limits(), all_modules_fuel=fuel)
    shared = SharedModules()
    for name in ("train.py", "both.py", "switch.py", "write.py", "train.py"):
        assert seen(report(name, PROJECT, shared, limits)) == seen(report(name, PROJECT, None, limits)), name
        report(name, PROJECT, shared)  # with all fuel


def test_another_configuration_shares_nothing(executed: Counter[str]) -> None:
    shared = SharedModules()
    report("train.py", PROJECT, shared)
    report("write.py", PROJECT, shared, config=Config(follow_installed=True))
    assert executed["helpers.py"] == 2


ASKING = """\
import torch
x = torch.ones(3, requires_grad=True)
if x.sum() > torch.rand(1):
    y = x * 2
else:
    y = x * 3
"""
WALKS = """\
import torch
from asking import y, x
def go():
    x.grad = None
    y.sum().backward()
go()
go()
"""


def test_what_a_module_asks_about_the_analysed_file_is_asked_again() -> None:
    shared = SharedModules()
    files = {
        "asking.py": ASKING,
        "plain.py": "import torch\nfrom asking import y\ny.sum()\n",
        "walks.py": WALKS,
    }
    for name in ("plain.py", "walks.py", "plain.py", "walks.py"):
        assert seen(report(name, files, shared)) == seen(report(name, files, None)), name


CIRCLE = {
    "pack/__init__.py": "from .tail import curve\n",
    "pack/tail.py": "from . import head\nfrom torch import ones\nsize = head.size\n"
    "def curve(x):\n    y = x.exp()\n    y += 1\n    return y.sum()\n",
    "pack/head.py": "import pack\nsize = 3\nkind = pack.curve\n",
    "first.py": "import torch\nfrom pack import curve\ncurve(torch.ones(3, requires_grad=True)).backward()\n",
    "other.py": "import torch\nfrom pack.head import kind\nkind(torch.ones(3, requires_grad=True)).backward()\n",
}
"""``head`` is executed while ``pack.curve`` is looked up, or before."""


def test_a_circle_that_is_entered_elsewhere() -> None:
    def checked(name: str, shared: SharedModules | None) -> Report:
        def resolve(module: str, importer: str) -> tuple[str, str] | None:
            path = ("pack/" if module.startswith(".") else "") + module.lstrip(".").replace(".", "/")
            path = path.rstrip("/")
            return next(((p, CIRCLE[p]) for p in (f"{path}.py", f"{path}/__init__.py") if p in CIRCLE), None)

        return analyse(CIRCLE[name], name, resolve=resolve, shared=shared)

    assert [checked(name, None).diagnostics[0].code for name in ("first.py", "other.py")] == ["TL201", "TL201"]
    for order in permutations(["first.py", "other.py", "pack/head.py", "pack/tail.py"]):
        shared = SharedModules()
        for name in order:
            assert seen(checked(name, shared)) == seen(checked(name, None)), (order, name)
