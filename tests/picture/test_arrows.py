"""No arrow runs behind a box, neither in the server's drawing nor in the editor's."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import asdict
from functools import cache
from pathlib import Path

import pytest
from tests.picture.passing import passes

from tapelint import analysis
from tapelint.picture import Picture, picture_at
from tapelint.picture.forms import as_json
from tapelint.picture.svg import svg

ROOT = Path(__file__).resolve().parents[2]
HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
CORPUS = ROOT / "tests" / "corpus" / "reports"
PAGES = {
    "replay_memories": 11,
    "carried_state": 8,
    "updated_parameters": 2,
    "written_step_by_step": 0,
    "graph_built_outside_loop": 0,
    "kept_graphs": 10,
    "written_parts": 12,
    "freed_graphs": 0,
}
"""Which program of a page, counted from 0: those with the largest pictures."""
EXAMPLES = ("tracker_prev_feature", "gan_reused_fake")
MNIST = """
import torch
import torch.nn as nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, 1)
        self.conv2 = nn.Conv2d(32, 64, 3, 1)
        self.dropout1 = nn.Dropout(0.25)
        self.fc1 = nn.Linear(9216, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = self.dropout1(F.max_pool2d(x, 2))
        x = F.relu(self.fc1(torch.flatten(x, 1)))
        return F.log_softmax(self.fc2(x), dim=1)

model = Net()
optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
for epoch in range(3):
    for data, target in batches:
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
"""


@cache
def pictures() -> dict[str, Picture]:
    """The largest picture of programs of the corpus and of two examples, and a program like PyTorch's own example."""
    programs = {f"examples/{name}": (ROOT / "examples" / f"{name}.py").read_text("utf-8") for name in EXAMPLES}
    for page, index in PAGES.items():
        blocks = re.findall(r"```py\n(.*?)```", (CORPUS / f"{page}.md").read_text("utf-8"), re.DOTALL)
        programs[page] = HEAD + blocks[index]
    found = {name: _largest(text) for name, text in programs.items()}
    row = next(row for row, text in enumerate(MNIST.splitlines(), 1) if "loss.backward" in text)
    return {**found, "mnist": picture_at(analysis.analyse(MNIST, "main.py"), row)}


def _largest(text: str) -> Picture:
    """Of the findings of a program, the picture with most arrows."""
    report = analysis.analyse(text, "main.py")
    drawn = [Picture("", (), (), ())]
    for found in report.diagnostics:
        try:
            drawn.append(picture_at(report, found.span.row, found.span.column))
        except Exception as error:  # nothing to draw of this one
            assert type(error).__name__ == "Nothing"
    return max(drawn, key=lambda picture: len(picture.edges))


def test_the_pictures_are_large_enough_to_say_something() -> None:
    assert len(pictures()) == 11
    assert min(len(picture.edges) for picture in pictures().values()) > 20


@pytest.mark.parametrize("name", [*(f"examples/{name}" for name in EXAMPLES), *PAGES, "mnist"])
def test_no_arrow_runs_behind_a_box_in_the_drawing_of_the_server(name: str) -> None:
    assert passes("\n".join(svg(pictures()[name], "main.py"))) == []


needs_elk = pytest.mark.skipif(not (ROOT / "node_modules" / "elkjs").is_dir(), reason="npm ci has not run here")


def drawn_by_the_editor(*options: str) -> dict[str, str]:
    asked = json.dumps([as_json(picture, "main.py", asdict) for picture in pictures().values()])
    command = ["node", "tests/picture/draw.mjs", *options]
    ran = subprocess.run(command, cwd=ROOT, input=asked, capture_output=True, text=True, check=True)
    return dict(zip(pictures(), json.loads(ran.stdout), strict=True))


@needs_elk
def test_no_arrow_runs_behind_a_box_in_the_drawing_of_the_editor() -> None:
    for name, drawing in drawn_by_the_editor().items():
        assert drawing.count("<path class=") >= len(pictures()[name].edges)
        assert passes(drawing) == [], name


@needs_elk
def test_what_is_no_part_of_the_hazard_is_folded() -> None:
    """Each box is drawn or behind one that is; those of the hazard are drawn, and few others."""
    for name, drawing in drawn_by_the_editor("--folded").items():
        assert passes(drawing) == [], name
        nodes = pictures()[name].nodes
        shown = {int(number) for number in re.findall(r'data-node="(\d+)"', drawing)}
        behind = [int(count) for count in re.findall(r"<title>(\d+) more<", drawing)]
        assert len(shown) - len(behind) + sum(behind) == len(nodes), name
        assert {node.number for node in nodes if node.is_marked} <= shown, name
        assert len(shown) <= (len(nodes) / 2 if any(node.is_marked for node in nodes) else len(nodes)), name
        assert bool(behind) == any(node.is_marked for node in nodes), name
        assert min(map(float, re.findall(r'class="lane".*?height="(.*?)"', drawing))) > 0, name


@pytest.mark.parametrize(("way", "found"), [("M5 20L5 60", []), ("M5 20L5 40L35 40L35 60L5 60", [(1, 3, 2)])])
def test_what_is_counted(way: str, found: list[tuple[int, int, int]]) -> None:
    boxes = [(1, 0, 0), (2, 30, 30), (3, 0, 60)]
    drawn = "".join(f'<g data-node="{n}"><rect x="{x}" y="{y}" width="20" height="20"/></g>' for n, x, y in boxes)
    arrow = f'<path data-from="1" data-to="3" d="{way}"/>'
    assert passes(f'<svg xmlns="http://www.w3.org/2000/svg">{drawn}{arrow}</svg>') == found
