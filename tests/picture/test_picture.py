"""What is drawn of small programs, and that every format of it parses."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict
from pathlib import Path
from textwrap import dedent
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from tapelint import analysis
from tapelint.cli.commands import tapelint
from tapelint.picture import Nothing, Picture, picture_at
from tapelint.picture.forms import as_json, dot, mermaid, text
from tapelint.picture.svg import svg

CARRIED = """
    import torch
    w = torch.ones(3, requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.1)
    total = torch.zeros(())
    for step in range(3):
        y = (w * 2.0).exp()
        total = total + y.sum()
        opt.zero_grad()
        total.backward()
        opt.step()
"""
WRITTEN = """
    import torch
    y = torch.ones(3, requires_grad=True).exp()
    y += 1
    y.sum().backward()
"""
ADDED = """
    import torch
    w = torch.ones(3, requires_grad=True)
    opt = torch.optim.SGD([w], lr=0.1)
    for step in range(3):
        w.exp().sum().backward()
        opt.step()
"""
BETWEEN = """
    import torch
    w = torch.ones(3, requires_grad=True)
    total = w * 2.0
    for step in range(2):
        total = total + w.exp()
    middle = total.sin()
    for step in range(2):
        middle = middle + w.cos()
    loss = middle.sum()
"""
DEEP = f"""
    import torch
    x = torch.ones(3, requires_grad=True)
    def encoder(x):
        {"; ".join(["x = torch.sin(x)"] * 90)}
        return x
    loss = encoder(x).sum()
"""


def drawn(program: str, row: int, column: int | None = None) -> Picture:
    """The picture of a row; the first row of a program is 1."""
    return picture_at(analysis.analyse(dedent(program).lstrip("\n"), "a.py"), row, column)


def related(picture: Picture, relation: str) -> set[tuple[str, str]]:
    titles = {node.number: node.title for node in picture.nodes}
    return {(titles[edge.begin], titles[edge.end]) for edge in picture.edges if edge.relation == relation}


def test_a_column_for_each_iteration() -> None:
    picture = drawn(CARRIED, 9)
    assert picture.columns == ("before the loop", "`step` is 0", "`step` is 1")
    assert picture.title.startswith("TL102")
    marked = {(node.kind, node.column) for node in picture.nodes if node.is_marked}
    assert marked == {("operation", 1), ("pass", 1), ("pass", 2)}


def test_what_is_between_two_loops_stands_between_them() -> None:
    picture = drawn(BETWEEN, 9)
    titles = {node.title.split(" ")[0]: node.column for node in picture.nodes}
    assert picture.columns[titles["SinBackward0"]] == "between the loops"
    assert picture.columns[titles["SumBackward0"]] == "after the loop"
    inputs = [edge for edge in picture.edges if edge.relation == "input"]
    columns = {node.number: node.column for node in picture.nodes}
    assert all(columns[edge.begin] <= columns[edge.end] for edge in inputs), "time runs on"


def test_the_pass_that_freed_and_the_one_that_needs() -> None:
    picture = drawn(CARRIED, 9)
    hazard = next(node for node in picture.nodes if node.kind == "operation" and node.is_marked)
    columns = {node.number: node.column for node in picture.nodes}
    arrows = {(edge.relation, columns[edge.begin]) for edge in picture.edges if edge.end == hazard.number}
    assert {("frees", 1), ("needs", 2)} <= arrows


def test_the_optimizer_steps_the_leaf() -> None:
    assert related(drawn(CARRIED, 9), "steps") == {("SGD.step", "`w`")}


def test_a_write_raises_the_version_of_what_was_saved() -> None:
    picture = drawn(WRITTEN, 3)
    saved = next(node for node in picture.nodes if node.kind == "saved")
    assert saved.is_marked and saved.details == ("ExpBackward0 needs version 0", "is at version 1")
    assert related(picture, "writes") == {("add_", "saved `y`")}
    write = next(node for node in picture.nodes if node.kind == "write")
    assert write.spot is not None and write.spot.row == 3 and "version 0 → 1" in write.details


def test_where_a_graph_ends() -> None:
    picture = drawn(
        "import torch\nw = torch.ones(1, requires_grad=True)\nloss = w.exp().detach()\nloss.backward()\n", 4
    )
    cut = next(node for node in picture.nodes if node.kind == "cut")
    assert cut.is_marked and "detach" in cut.title and cut.spot is not None and cut.spot.row == 3
    assert related(picture, "needs") == {("`loss.backward()`", "`loss`")}


def test_an_expression_without_a_finding() -> None:
    picture = drawn("import torch\nw = torch.ones(1, requires_grad=True)\ny = w.exp()\ny.backward()\n", 3)
    assert related(picture, "input") == {("`w`", "ExpBackward0 → `y`")}
    assert not any(node.is_marked for node in picture.nodes)
    assert [node.details[0] for node in picture.nodes if node.kind == "pass"] == [
        "walks 1 operation, 1 with saved values; frees what they saved"
    ]


def test_what_is_left_out_is_counted() -> None:
    picture = drawn(DEEP, 6)
    assert len(picture.nodes) <= 60
    [rest] = [note for note in picture.notes if "encoder" in note]
    left = int(rest.split()[0])
    assert left + sum(node.kind == "operation" for node in picture.nodes) == 91


def test_what_is_unknown_is_not_certain() -> None:
    program = "import torch\ndef train(net, x):\n    loss = net(x).sum()\n    loss.backward()\n    loss.backward()\n"
    picture = drawn(program, 5)
    assert {node.kind for node in picture.nodes if not node.is_certain} >= {"operation"}


def test_what_is_not_known_is_not_drawn() -> None:
    with pytest.raises(Nothing):
        drawn("import torch\nfrom a import net\nloss = net(torch.ones(3)).sum()\nloss.backward()\n", 3)


def test_iterations_that_are_not_followed_are_said() -> None:
    assert any("not followed" in note for note in drawn(CARRIED, 9).notes)
    assert not drawn(WRITTEN, 3).notes


@pytest.mark.parametrize(("program", "row"), [("import torch\nx = 1\n", 2), ("x = 1\n", 1)])
def test_nothing_to_draw(program: str, row: int) -> None:
    with pytest.raises(Nothing):
        drawn(program, row)


@pytest.mark.parametrize(("program", "row"), [(CARRIED, 9), (WRITTEN, 3), (DEEP, 6)])
def test_the_formats_parse(program: str, row: int) -> None:
    picture = drawn(program, row)
    numbers = {f"n{node.number}" for node in picture.nodes}
    drawing = ElementTree.fromstring("\n".join(svg(picture, "a.py")))
    assert len(drawing.findall(".//{*}g")) == len(picture.nodes)
    assert len(drawing.findall(".//{*}path[@marker-end]")) == len(picture.edges)
    _is_flowchart([*mermaid(picture, "a.py")], numbers)
    _is_digraph("\n".join(dot(picture, "a.py")), numbers)
    assert json.loads(json.dumps(as_json(picture, "a.py", asdict)))["columns"] == [*picture.columns]
    listed = re.findall(r"(?m)^ +(\d+)\. ", "\n".join(text(picture, "a.py")))
    assert {f"n{number}" for number in listed} == numbers


def _is_flowchart(lines: list[str], numbers: set[str]) -> None:
    """Each line is one of the few forms of Mermaid that are written, and arrows lead from node to node."""
    label = r'"[^"]*"'
    boxes = [r"\(\[_\]\)", r"\[\(_\)\]", r"\[\[_\]\]", r"\[/_/\]", r"\{\{_\}\}", r">_\]", r"\[_\]"]
    node = rf"(n\d+)(?:{'|'.join(boxes).replace('_', label)})"
    forms = [
        rf"subgraph column\d+\[{label}\]|direction TB|end|classDef \w+ [\w:#,-]+|class [n\d,]+ \w+|%% .*",
        rf"(n\d+) (?:-->|==>|-\. {label} \.->) (n\d+)",
    ]
    assert lines[0] == lines[2] == "---" and lines[3] == "flowchart TB"
    defined = {found[1] for line in lines[4:] if (found := re.fullmatch(node, line.strip()))}
    assert defined == numbers
    for line in lines[4:]:
        if re.fullmatch(node, line.strip()) or re.fullmatch(forms[0], line.strip()):
            continue
        arrow = re.fullmatch(forms[1], line.strip())
        assert arrow and {arrow[1], arrow[2]} <= numbers, line


def _is_digraph(written: str, numbers: set[str]) -> None:
    """Braces and brackets match outside of strings, and all that is said is said of nodes that are there."""
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', "text", re.sub(r"(?m)^ *//.*$", "", written))
    assert '"' not in bare
    for left, right in ("{}", "[]"):
        assert bare.count(left) == bare.count(right)
    assert set(re.findall(r"(?m)^\s+(n\d+) \[", bare)) == numbers
    assert {end for pair in re.findall(r"(n\d+) -> (n\d+)", bare) for end in pair} <= numbers


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(dedent(WRITTEN).lstrip("\n"), encoding="utf-8")
    shown = CliRunner().invoke(tapelint, ["graph", f"{path}:3"])
    assert shown.exit_code == 0 and "in-place write add_ (line 3, part of the hazard)" in shown.output
    for target in (f"{path}:1", str(path), f"{path}:99", f"{tmp_path / 'b.py'}:1"):
        assert CliRunner().invoke(tapelint, ["graph", target]).exit_code == 2


@pytest.mark.parametrize(
    ("name", "program", "row"), [("carried", CARRIED, 9), ("written", WRITTEN, 3), ("gradients", ADDED, 6)]
)
def test_the_pictures_of_the_documentation(name: str, program: str, row: int) -> None:
    """They are what the command draws; with TAPELINT_PICTURES in the environment they are drawn anew."""
    kept = Path(__file__).resolve().parents[2] / "docs" / "images" / f"graph-{name}.svg"
    made = "\n".join(svg(drawn(program, row), "a.py")) + "\n"
    if "TAPELINT_PICTURES" in os.environ:
        kept.write_text(made, encoding="utf-8")
    assert kept.read_text(encoding="utf-8") == made
