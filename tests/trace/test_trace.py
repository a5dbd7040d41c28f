"""What a trace says of small programs, and that tracing changes nothing."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from mdspec import Block, read_all
from tapelint import analysis
from tapelint.analysis.execution import Inputs
from tapelint.autograd import Facts
from tapelint.engine.incremental import total
from tapelint.source import parse
from tapelint.trace import trace
from tapelint.trace.tracer import WIDTH, Tracer
from tapelint.workspace.config import Config

ALONE = Inputs(resolve=lambda *_: None)
MDTEST = Path(__file__).resolve().parents[1] / "mdtest"
BLOCKS = [block for block in read_all(MDTEST) if not block.cells and not block.files]


def traced(text: str, line: int | None = None) -> list[str]:
    source = parse("import torch\n" + dedent(text).lstrip("\n"), "a.py")
    return list(trace(source, ALONE, line))


def notes(text: str, line: int | None = None) -> list[str]:
    """What is noted, without the rows; continued lines are put together."""
    found: list[str] = []
    for row in traced(text, line):
        if row.startswith("     > "):
            found.append(row[7:])
        elif found and row.startswith("         "):
            found[-1] += " " + row.strip()
    return found


def test_a_write_to_a_saved_tensor() -> None:
    text = """
        w = torch.ones(3, requires_grad=True)
        y = torch.exp(w)
        y += 1
        y.sum().backward()
        """
    assert traced(text) == [
        "script",
        "   1 | import torch",
        "   2 | w = torch.ones(3, requires_grad=True)",
        "     > w: leaf, requires grad, version 0",
        "   3 | y = torch.exp(w)",
        "     > built ExpBackward0 #1 <- w; saves result (version 0)",
        "     > y: ExpBackward0 #1, version 0",
        "   4 | y += 1",
        "     > built AddBackward0 #2 <- ExpBackward0 #1; saves nothing",
        "     > wrote y in place (add_): version 0 -> 1",
        "     > published GraphTensorWritten: TL207 hint",
        "     > y: AddBackward0 #2, version 1",
        "   5 | y.sum().backward()",
        "     > built SumBackward0 #3 <- AddBackward0 #2; saves nothing",
        "     > published SavedTensorModified: TL201 error",
        "     > raises RuntimeError: one of the variables needed for gradient computation has been modified",
        "         by an inplace operation",
        "",
        "findings",
        "   4 | y += 1",
        "     > reported: TL201 error",
    ]


def test_gradients_are_set_and_cleared() -> None:
    text = """
        w = torch.ones(3, requires_grad=True)
        w.exp().sum().backward()
        w.grad = None
        """
    found = notes(text)
    assert found[-5:] == [
        ".grad set: w",
        "backward ran SumBackward0 #2, ExpBackward0 #1; freed",
        "gradients accumulate in w",
        "w: leaf, requires grad, has .grad, version 0",
        ".grad cleared: w",
    ]


def test_a_join_names_what_it_havocs() -> None:
    text = """
        import lib
        n = 0
        if lib.flag:
            n = 1
        print(n)
        """
    assert notes(text) == [
        "n: 0",
        "forked: `lib.flag` is unknown, true on path 1, false on path 2",
        "n: 1",
        "joined path 2 with path 1: havocked n",
        "n: unknown data: the joined paths differ in `n`",
    ]


def test_paths_that_differ_in_graphs_stay_apart() -> None:
    text = """
        import lib
        y = torch.ones(3, requires_grad=True)
        if not lib.flag:
            y = y * 2
        y.sum().backward()
        """
    rows = traced(text)
    assert "     -- path 1 where `not lib.flag`" in rows
    assert "     -- path 2 where not `not lib.flag`" in rows
    assert [row for row in rows if "backward ran" in row] == [
        "     > backward ran SumBackward0 #2, MulBackward0 #1; freed",
        "     > backward ran SumBackward0 #3; freed",
    ]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("for i in range(100): print(torch.ones(i))", "ended after 3 iterations: the program may go on, but the bound"),
        ("for i in range(2): print(i)", "ended after 2 iterations: there is no other item"),
        ("for i in range(9): break", "ended after 1 iteration: every path has left it"),
        ("n = 0\nwhile n < 2: n += 1", "ended after 2 iterations: there is no other item, or its test is false"),
        ("import lib\nwhile lib.more(): pass", "ended after 3 iterations: the program may go on"),
        ("def f(): return f()\nf()", "did not execute `f()`: the function is running already"),
        ("import lib\nlib.call(1)", "did not execute `lib.call()`: its code is not known"),
        ("import lib\nn = lib.call(1)", "n: unknown: returned by code that is not known"),
        ("for x in range(10**6): x = [[[[[y for y in range(12)] for _ in range(12)]]]]", "ended after"),
    ],
)
def test_decisions_have_reasons(text: str, note: str) -> None:
    found = notes(text)
    assert any(each.startswith(note) for each in found), found


def test_iterations_that_repeat_are_skipped() -> None:
    text = """
        net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for x in torch.utils.data.DataLoader([1]):
            opt.zero_grad()
            loss = net(x).sum() + net(x).mean() * 2 + net(x).exp().sum()
            loss.backward()
            opt.step()
        """
    reason = "the iteration ended in a state equivalent to the one it began with"
    assert f"skipped what comes after iteration 2 (1 more): {reason}" in notes(text)


def test_a_function_without_a_caller_is_an_entry_point() -> None:
    rows = traced("def train(model, x):\n    model(x).sum().backward()\n")
    begin = rows.index("function train (line 2), which nothing calls")
    assert rows[begin + 1 : begin + 5] == [
        "     -- in train",
        "   3 |     model(x).sum().backward()",
        "     > model: torch.nn.Module object, otherwise unknown",
        "     > x: unknown: an argument, or a name that this code does not define",
    ]


def test_an_entry_point_that_is_given_up() -> None:
    loops = "    for i in range(12):\n     for j in range(12):\n      for k in range(12):\n"
    body = "".join(f"       if (i + j + k) % 12 == {number}: x = (x + j) * k\n" for number in range(40))
    rows = notes(f"def f(x):\n{loops}{body}")
    assert any(row.startswith("given up: out of fuel after ") for row in rows)


def test_one_line_is_traced_with_all_that_it_reads() -> None:
    text = """
        w = torch.ones(3, requires_grad=True)
        a = w * 2
        for _ in range(2):
            b = w + a
        """
    rows = traced(text, 5)
    assert [row for row in rows if row.startswith("   5 |")] == ["   5 |     b = w + a"] * 2
    assert rows.count("     > w: leaf, requires grad, version 0") == 2
    assert not any("for _" in row for row in rows)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (f"x = 0x{'f' * 5000}", "x: a large int"),
        ("x = 'aaa'", "x: 'aaa'"),
        ("x = reveal_graph(1)", "x: unknown: returned by code that is not known"),
    ],
)
def test_values_are_written_in_a_few_words(text: str, note: str) -> None:
    assert note in notes(text)


def test_a_line_that_was_not_executed() -> None:
    assert traced("if False:\n    x = 1\n", 3) == ["line 3: no statement was executed there"]


def test_a_call_that_ends_in_two_states() -> None:
    text = """
        import lib
        def pick(x):
            if lib.flag:
                return x * 2
            return x + 1
        y = pick(torch.ones(3, requires_grad=True))
        """
    found = notes(text)
    assert "the call ended in 2 states: path 1 goes on, the statement is finished afterwards on path 2" in found
    assert found[-3:] == [
        "path 1: y: MulBackward0 #1, version 0",
        "path 2: y: AddBackward0 #2, version 0",
        "kept paths 1, 2 apart: they differ in y",
    ]


def test_a_difference_is_noted_once() -> None:
    text = """
        import lib
        class Holder:
            def __init__(self):
                self.state = torch.ones(3, requires_grad=True)
        holder = Holder()
        if lib.flag:
            holder.state = holder.state * 2
        a = 1
        b = 2
        """
    found = [note for note in notes(text) if note.startswith("kept")]
    assert found == ["kept paths 1, 2 apart: they differ in holder.state"]


OPTIONS = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--a", action="store_true")
parser.add_argument("--b", action="store_true")
args = parser.parse_args()
w = torch.ones(3, requires_grad=True)
y = w.exp()
"""


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("n = 2\nif n > 1: print(n)", "`n > 1` is true: its value is known"),
        ("import lib\nif lib.n > 2: print(1)", None),
        (f"{OPTIONS}if args.a is None: print(1)", "`args.a is None` is false: no values of its options make it go the"),
        (
            f"{OPTIONS}if args.a:\n    y = y * 2\nif args.b: print(1)",
            "`args.b` is false: the path supposes that `--a` is given, and all other options have their defaults",
        ),
        (
            f"{OPTIONS}if args.a:\n    y = y * 2\nif not args.a: print(1)",
            "`not args.a` is false: it follows from tests before it on the path",
        ),
        (
            f"{OPTIONS}if args.a:\n    y = y * 2\nprint(1 if args.a else 2)",
            "`args.a` is true: it follows from tests before it on the path",
        ),
    ],
)
def test_a_test_that_is_decided_has_a_reason(text: str, note: str | None) -> None:
    found = [each.removeprefix("decided: ") for each in notes(text) if each.startswith("decided: ")]
    assert any(each.startswith(note) for each in found) if note is not None else not found, found


def found(text: str, line: int | None = None) -> list[str]:
    """What stands below ``findings`` at the end of a trace."""
    return [each for each in notes(text, line) if each.startswith(("reported", "not reported"))]


def test_a_finding_behind_nested_options_rests_on_both() -> None:
    text = f"{OPTIONS}if args.a:\n    if args.b:\n        y += 1\ny.sum().backward()\n"  # torch: raises with --a --b
    needs = "`--a` is given and `--b` is given"
    assert found(text) == [f"reported: TL201 warning; it rests on: {needs}"]


UNKNOWN = """\
import json
flags = json.load(open("flags.json"))
w = torch.ones(3, requires_grad=True)
y = w * 2
if flags["a"]:
    y = w.exp()
if flags["b"]:
    y += 1
y.sum().backward()
"""


def test_what_needs_two_independent_flags_is_withheld_and_that_is_said() -> None:
    """PyTorch raises if both are true: the one makes it save its result, the other writes that."""
    why = "it needs more than one choice (`flags['a']` is true and `flags['b']` is true)"
    assert found(UNKNOWN) == [f"not reported: TL201, {why}"]
    assert found(UNKNOWN, 9) == found(UNKNOWN)
    assert found(UNKNOWN, 10) == [f"not reported in line 9: TL201, {why}"]
    assert found(UNKNOWN, 8) == []


def test_what_the_user_does_not_want_is_said() -> None:
    begun = "w = torch.ones(3, requires_grad=True)\ny = w.exp()\n"
    silenced = f"{begun}y += 1  # tapelint: ignore[TL201]\ny.sum().backward()\n"
    assert found(silenced) == ["not reported: TL201, a comment silences it"]
    source = parse(f"import torch\n{begun}y += 1\ny.sum().backward()\n", "a.py")
    unwanted = Inputs(Config(ignore=("TL201",)), resolve=lambda *_: None)
    assert "     > not reported: TL201, the settings leave it out" in trace(source, unwanted, None)


@pytest.mark.parametrize("block", BLOCKS[::40], ids=lambda block: block.name)
def test_tracing_changes_nothing(block: Block) -> None:
    """A traced execution counts what one without an observer counts, and fits the width."""
    source, watched = (parse(block.program, "a.py") for _ in range(2))
    machine, observed = (analysis.made(each, Facts(), ALONE) for each in (source, watched))
    Tracer(observed, watched)
    assert total(analysis.executed(observed)) == total(analysis.executed(machine))
    assert max(map(len, trace(parse(block.program, "a.py"), ALONE))) <= WIDTH


@pytest.mark.parametrize(
    "choice",
    [
        "if fast:\n    net = torch.nn.DataParallel(net)",
        "if fast:\n    net.features = torch.nn.DataParallel(net.features)",
        "if fast:\n    net = models.resnet18()\nelse:\n    net = models.resnet18(True)",
    ],
    ids=["wrapped", "wrapped in part", "made in another way"],
)
def test_networks_of_which_nothing_is_known_keep_no_paths_apart(choice: str) -> None:
    begun = "import torch\nfrom torchvision import models\nfast = torch.cuda.is_available()\n"
    text = f"{begun}net = torch.hub.load('zoo', 'net')\n{choice}\nprint(net)\n"
    found = list(trace(parse(text, "a.py"), ALONE, None))
    assert any("forked" in row for row in found) and any("joined" in row for row in found)
    assert not any("apart" in row for row in found)


def test_a_wrapper_of_a_network_is_still_looked_through_where_one_side_wraps_it() -> None:
    text = """
        net = torch.nn.Linear(3, 3)
        if torch.cuda.is_available():
            net = torch.nn.DataParallel(net)
        net = net.module
        net(torch.ones(2, 3)).sum().backward()
        torch.optim.SGD(net.parameters(), 0.1).step()
        """
    found = notes(text)
    assert any(each.startswith("joined") for each in found) and not any("apart" in each for each in found)
    assert any("filled .grad" in each or "backward ran" in each for each in found)


def test_networks_that_are_one_on_one_path_and_two_on_the_other_keep_the_paths_apart() -> None:
    text = """
        import torchvision
        if torch.cuda.is_available():
            net = torchvision.models.resnet18()
            other = net
        else:
            net = torchvision.models.resnet18()
            other = torchvision.models.resnet18()
        for each in net.parameters():
            each.requires_grad = False
        print(net, other)
        """
    assert any("apart: they differ in" in each for each in notes(text))


def test_a_name_that_is_read_no_more_does_not_have_a_loop_run_for_each_path() -> None:
    text = """
        w = torch.ones(3, requires_grad=True)
        if torch.cuda.is_available():
            def hook(grad):
                return grad
            print(hook)
        else:
            again = lambda: w
            y = again()
        for epoch in range(100):
            (w * w).sum().backward()
        """
    found = notes(text)
    assert any(each.startswith("kept paths") for each in found), "they differ between the statements"
    backward = [each for each in found if each.startswith("backward ran")]
    without = notes("w = torch.ones(3, requires_grad=True)\nfor epoch in range(100):\n    (w * w).sum().backward()\n")
    assert len(backward) == len([each for each in without if each.startswith("backward ran")])


def test_a_name_that_the_loop_reads_has_it_run_for_each_path() -> None:
    text = """
        w = torch.ones(3, requires_grad=True)
        y = w * w
        if torch.cuda.is_available():
            y = w
        for epoch in range(100):
            (y * y).sum().backward()
        """
    assert any("RuntimeError: Trying to backward" in each for each in notes(text))
    assert any(each.startswith("kept paths") for each in notes(text))
