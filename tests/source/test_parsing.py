"""Every text has a tree. Broken statements are left out, and the names that they mention are unknown from there on."""

from __future__ import annotations

import ast
import random
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tapelint.source import Source, Span, parse

TRAINING = '''\
"""A training script, with a bit of everything."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, size: int = 4) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(size, size) for _ in range(2)])
        self.name = f"größe {size!r:>{size}}"  # 日本

    @torch.no_grad()
    def reset(self, *, value=0.0):
        for parameter in self.parameters():
            parameter.fill_(value) if value else None

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
history = {
    "loss": [],
    'text': """several
lines""",
}
try:
    for step, (x, y) in enumerate(zip(range(3), range(3))):
        optimizer.zero_grad()
        loss = (model(torch.ones(1, 4) * x)
                - y).pow(2).sum()
        if step % 2 == 0 and not (lambda z: z > 1)(step):
            loss.backward()
        elif step: continue
        else:
            with torch.no_grad() as mode, open("log") as log:
                print("x", file=log)
        optimizer.step(); history["loss"] += [loss.item()]
except (KeyError, ValueError) as error:
    raise RuntimeError("no") from error
finally:
    del model
'''


SCRAPS = ["x", " ", "\n", "\n    ", "(", ")", "'", '"""', ":", "if ", "def f", "=", "\\", "é", "\r", "#"]


def listing(text: str) -> list[str]:
    return ast.unparse(parse(text).tree).splitlines()


@cache
def prefix(end: int) -> Source:
    """The text as it is after so many keystrokes."""
    return parse(TRAINING[:end])


def check(source: Source) -> None:
    """What holds of every source: the tree compiles to nothing odd, and all places are in the text."""
    ast.unparse(source.tree)
    for node in ast.walk(source.tree):
        span = source.span(node)
        assert 1 <= span.row <= span.end_row
        assert span.column >= 1
        assert (span.row, span.column) <= (span.end_row, span.end_column)
    for problem in source.problems:
        assert problem.message
        assert 1 <= problem.span.row <= len(source.lines) + 1
    assert not source.suppressions.covers("TL101", 10**6) or "file" in source.text


def test_every_prefix_of_a_file() -> None:
    for end in range(len(TRAINING)):
        source = prefix(end)
        assert source.is_skipped is None, TRAINING[:end]
        check(source)


def test_every_prefix_keeps_what_is_above() -> None:
    """Typing at the end of a file hides at most the block that is typed in."""
    above = len(parse(TRAINING[: TRAINING.index("model = Net")]).tree.body)
    for end in range(TRAINING.index("optimizer ="), len(TRAINING)):
        assert len(prefix(end).tree.body) > above, TRAINING[:end]


def test_recovery_from_one_changed_character() -> None:
    rng = random.Random(7)
    for _ in range(150):
        at = rng.randrange(len(TRAINING))
        check(parse(TRAINING[:at] + TRAINING[at + 1 :]))
        check(parse(TRAINING[:at] + rng.choice("()[]{}'\"\\\n\t:#@=\r\f\ufeff\0") + TRAINING[at:]))


@given(st.lists(st.sampled_from(SCRAPS)))
@example(["\ufeff", "x = '\ud800'"])
@example(["\0"])
@example(["\\"])
def test_any_text_parses(parts: list[str]) -> None:
    check(parse("".join(parts)))


@pytest.mark.parametrize(
    ("broken", "left"),
    [
        ("h = h.detach(\nloss.backward()\n", ["h = __unparsed__()", "loss.backward()"]),
        ("import torch\nx = torch.ones(3,\ny = 2\n", ["import torch", "x = __unparsed__()", "y = 2"]),
        ("loss.\nloss.backward()\n", ["loss = __unparsed__()", "loss.backward()"]),
        ("x = 'abc\ny = 1\n", ["x, abc = __unparsed__()", "y = 1"]),
        ("for i in r:\n\ny = 1\n", ["i, r = __unparsed__()", "y = 1"]),
        ("try:\n    a = 1\nb = 2\n", ["if 1:", "    a = 1", "b = 2"]),
        ("if x ==:\n    a = 1\nelse:\n    b = 2\nc = 3\n", ["x, a = __unparsed__()", "b = __unparsed__()", "c = 3"]),
        ("def f(x:\n    a = 1\nc = 3\n", ["f = __unparsed__()", "c = 3"]),
        ("def f():\n    return g(\n", ["def f():", "    return __unparsed__()"]),
        ("a = 1\n   b = 2\nc = 3\n", ["a = 1", "b = __unparsed__()", "c = 3"]),
        ("if a:\n    x = [1, 2\n         3]\n    y = 1\n", ["if a:", "    x = __unparsed__()", "    y = 1"]),
        ("x = 1\nprint 'x'\ny = 1\n", ["x = 1", "pass", "y = 1"]),
    ],
)
def test_statements_left_of_a_broken_text(broken: str, left: list[str]) -> None:
    assert listing(broken) == left
    assert parse(broken).problems


def test_recovered_statements_keep_their_lines() -> None:
    source = parse("a = (\n\nñ = é.backward(\n)\nb = 1\n")
    last = source.tree.body[-1]
    assert source.span(last) == Span(5, 1, 5, 6)


@pytest.mark.parametrize(
    "expression",
    [
        "[" * 5000 + "]" * 5000,
        "f(" * 3000,
        "+".join("a" * 20_000),
        "+".join("a" * 500),
        "-" * 20_000 + "1",
        "not " * 20_000 + "1",
        "lambda: " * 5000 + "1",
        "a" + ".b()" * 5000,
        "1 if a else " * 5000 + "1",
        "{" * 150 + "}" * 150,
    ],
    ids=lambda text: text[:6],
)
def test_nesting_depth_limit(expression: str) -> None:
    source = parse(f"x = 1\ny = {expression}\nz = 1\n")
    check(source)
    assert source.is_skipped or source.problems


def test_deep_statements() -> None:
    check(parse("if a: b\n" + "elif c: d\n" * 400))
    check(parse("".join(" " * level + "if a:\n" for level in range(99)) + " " * 99 + "pass"))


def test_a_deep_statement_makes_its_names_unknown() -> None:
    (line,) = listing("y = " + "+".join("a" * 500))
    assert sorted(line.split(" = ")) == ["__unparsed__()", "a", "y"]


def test_size_limit() -> None:
    assert "characters" in (parse("x = 1 \n" * 250_000).is_skipped or "")
    assert "lines" in (parse("\n" * 60_001).is_skipped or "")
    assert "lines" in (parse("\r" * 60_001).is_skipped or "")
    assert parse("x = 1\n" * 5_000).is_skipped is None


def test_characters_python_refuses() -> None:
    for text in ["x = 'a\0b'\ny = 1\n", "x = '\udc80'\ny = 1\n"]:
        source = parse(text)
        assert [problem.span.row for problem in source.problems] == [1]
        assert len(source.tree.body) == 2


@given(st.lists(st.sampled_from(["a", "é", "日", "\U0001f600", "ﬀ"]), min_size=1, max_size=5), st.booleans())
def test_columns_are_characters(signs: list[str], marked: bool) -> None:
    word = "".join(signs)
    mark = "\ufeff" * marked
    source = parse(f"{mark}t = '{word}'; u = 1\n\ts = ('{word}', v)\n")
    second = source.tree.body[1]
    text = source.lines[0]
    span = source.span(second)
    assert text[span.column - 1 : span.end_column - 1] == "u = 1"


def test_syntax_warnings_are_not_raised(recwarn: pytest.WarningsRecorder) -> None:
    parse(r"x = '\d'; y = x is 3")
    assert not recwarn.list
