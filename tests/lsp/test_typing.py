"""What is shown while a program is typed, in the real server: nothing that the finished program does not show, and
nothing that comes and goes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from programs import BAD, HEAD
from test_closed_files import project
from test_cures_elsewhere import FINISHING, TWICE
from wire import Wire, edit, without_marks

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, str(Path(__file__).with_name("paused_server.py"))]
PULLS = {"textDocument": {"diagnostic": {}}, "workspace": {"diagnostics": {"refreshSupport": True}}}
URI = "untitled:typed"
README = re.search(r"```py\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[1]

Found = set[tuple[str, int]]
"""Codes, with the rows that they are reported in."""

PROGRAMS = {
    "README": README,
    "cleared in the end": HEAD
    + """opt = torch.optim.SGD([x], lr=0.1)
for step in range(100):
    loss = (x * x).sum()
    loss.backward()
    opt.step()
    opt.zero_grad()
""",
    "detached in the end": """import torch

w = torch.ones(3, requires_grad=True)
h = torch.zeros(3)
for x in torch.rand(100, 3):
    h = torch.tanh(w * x + h)
    h.sum().backward()
    h = h.detach()
""",
    "walked after the loop": HEAD
    + """total = 0.0
for step in range(100):
    total = total + (x * step).exp().sum()
total.backward()
""",
    "a Function with two inputs": """import torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return (grad * ctx.factor).sum_to_size(x.shape), None


y = Scale.apply(torch.ones(3, requires_grad=True), 2.0)
y.sum().backward()
""",
    "a Function that keeps its input": """import torch


class Power(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, exponent):
        ctx.x = x
        ctx.exponent = exponent
        return x**exponent

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.exponent * ctx.x ** (ctx.exponent - 1), None


Power.apply(torch.ones(3, requires_grad=True), 3).sum().backward()
""",
    "a function that main calls": """import torch


def train(net, data):
    losses = []
    for x in data:
        loss = net(x).sum()
        losses.append(loss)
    return torch.stack(losses).sum()


def main():
    net = torch.nn.Linear(3, 1)
    train(net, torch.rand(10, 2, 3)).backward()


if __name__ == "__main__":
    main()
""",
    "another attribute than .grad": HEAD + "y = x * 2\nprint(y.grad_fn)\ny.sum().backward()\n",
}
EXAMPLES = {
    name: (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
    for name in ("hard_dice", "looks_wrong_is_right", "memory_list", "residual_inplace")
}
CASES = [(name, pauses) for name in PROGRAMS for pauses in (False, True)]
CASES += [(name, False) for name in EXAMPLES]


class Typist:
    """Types a text, and sees what the editor shows."""

    def __init__(self, wire: Wire, settings: dict[str, Any] | None = None) -> None:
        self.wire, self.version, self.line, self.column = wire, 1, 0, 0
        wire.start(PULLS, initializationOptions={"settings": settings or {}})
        wire.open(URI, "", 1)

    def type(self, text: str) -> None:
        """One edit, whatever its length; the cursor is behind it."""
        self._edited(text)

    def keys(self, text: str) -> None:
        """Each letter is an edit."""
        for letter in text:
            self._edited(letter)

    def at_once(self, text: str) -> None:
        """Each letter is a change, all of which the editor sends together."""
        self._edited(*text)

    def _edited(self, *changes: str) -> None:
        self.version += 1
        self.wire.change(URI, self.version, *map(self._inserted, changes))

    def _inserted(self, text: str) -> dict[str, Any]:
        change = edit(self.line, self.column, self.column, text)
        self.line += text.count("\n")
        self.column = len(text) - text.rfind("\n") - 1 if "\n" in text else self.column + len(text)
        return change

    def pause(self) -> None:
        self.wire.notify("test/pause", {"uri": URI})

    def save(self) -> None:
        self.wire.notify("textDocument/didSave", {"textDocument": {"uri": URI}})

    def shown(self) -> Found:
        items = self.wire.request("textDocument/diagnostic", {"textDocument": {"uri": URI}})["result"]["items"]
        return {(item["code"], item["range"]["start"]["line"] + 1) for item in without_marks(items)}


@pytest.fixture
def typist() -> Iterator[Typist]:
    wire = Wire(COMMAND)
    yield Typist(wire)
    wire.close()


COMMENT = r'\A""".*?"""|#[^\n]*'
"""A comment, or the docstring of the module: nothing happens in it."""
LETTER = re.compile(rf"{COMMENT}|\n *|.", re.DOTALL)
PART = re.compile(rf"{COMMENT}|\n *|[^\n)\]}}:\"'#]*[)\]}}:\"']|[^\n)\]}}:\"'#]+", re.DOTALL)
"""What ends where a row may be a whole statement; the row is half typed all the while before."""


def typed(typist: Typist, text: str, is_short: bool) -> Iterator[str]:
    """Type a program, and give each piece of it when the editor looks at what is shown: a letter of a short program; of
    others the first letter of each part, and the rest of it, since an analysis for each of thousands of letters takes
    minutes and each of those in between is half typed, too.
    """
    for piece in (LETTER if is_short else PART).findall(text):
        if len(piece) == 1 or re.fullmatch(rf"{COMMENT}|\n *", piece, re.DOTALL):
            typist.type(piece)
        else:
            typist.type(piece[0])
            yield piece[0]
            typist.at_once(piece[1:])
        yield piece


@pytest.mark.parametrize(("name", "pauses"), CASES)
def test_nothing_comes_and_goes(typist: Typist, name: str, pauses: bool) -> None:
    """Who pauses after each row is told what the rows that are there do, also if the next one mends it."""
    seen: list[Found] = []
    for piece in typed(typist, {**PROGRAMS, **EXAMPLES}[name], name in PROGRAMS and not pauses):
        if pauses and piece.startswith("\n"):
            typist.pause()
        seen.append(typist.shown())
    typist.pause()
    final = typist.shown()
    for earlier, now in zip(seen, seen[1:]):
        assert pauses or earlier <= now, "what is shown stays"
    if not pauses:
        assert set().union(*seen) <= final
    for each in set().union(*seen):
        states = [each in found for found in seen]
        begins = sum(now and not before for before, now in zip([False, *states], states))
        assert begins == 1, f"{each} is shown {begins} times, with gaps between"


LOOP = PROGRAMS["cleared in the end"].removesuffix("    opt.zero_grad()\n")
MISSING = {("TL401", 8)}


@pytest.mark.parametrize("rest", ["pause", "save"])
def test_what_is_missing_is_said_when_the_user_rests(typist: Typist, rest: str) -> None:
    typist.keys(LOOP)
    assert typist.shown() == set()
    getattr(typist, rest)()
    assert typist.shown() == MISSING
    assert any(message.get("method") == "workspace/diagnostic/refresh" for message in typist.wire.seen)


def test_what_was_pasted_is_finished(typist: Typist) -> None:
    typist.type(LOOP)
    assert typist.shown() == MISSING


def test_what_was_undone_is_finished(typist: Typist) -> None:
    """The removal of a fix is no key."""
    typist.type(LOOP + "    opt.zero_grad()\n")
    assert typist.shown() == set()
    typist.wire.change(URI, 3, edit(8, 0, len("    opt.zero_grad()"), ""))
    assert typist.shown() == MISSING


def test_a_half_typed_row_hides_nothing_else(typist: Typist) -> None:
    """A name that does not exist yet ends the program above what raises; what stands in the row itself goes."""
    typist.type(BAD)
    typist.line, typist.column = 4, 0
    assert typist.shown() == {("TL201", 5)}
    for letter in "print(":
        typist.type(letter)
        assert typist.shown() <= {("TL201", 5)}
    typist.type("1);")
    typist.type("\n")
    assert typist.shown() == {("TL201", 6)}
    for letter in "\nlog":
        typist.line, typist.column = (4, 8) if letter == "\n" else (typist.line, typist.column)
        typist.type(letter)
        assert typist.shown() == {("TL201", 7)}


def test_what_is_mended_goes_at_once(typist: Typist) -> None:
    typist.type(BAD)
    assert typist.shown() == {("TL201", 5)}
    typist.line, typist.column = 3, len("y = x.exp()")
    typist.keys(".clone()")
    assert typist.shown() == set()


def test_nothing_is_checked_before_it_is_saved() -> None:
    wire = Wire(COMMAND)
    try:
        typist = Typist(wire, {"run": "onSave"})
        typist.type(BAD)
        assert typist.shown() == set()
        typist.save()
        wire.until(lambda message: message.get("method") == "workspace/diagnostic/refresh")
        assert typist.shown() == {("TL201", 5)}
        typist.line, typist.column = 0, 0
        typist.type("# a comment\n")
        assert typist.shown() == {("TL201", 6)}, "it moves along"
        typist.type("x")
        typist.save()
        assert typist.shown() == {("TL201", 6)}
    finally:
        wire.close()


def test_what_another_file_shows_here_does_not_blink(tmp_path: Path) -> None:
    """main.py is not open; it is looked at again while nothing else is to be done."""
    uris = project(tmp_path, helpers=FINISHING, main=TWICE)
    wire = Wire(COMMAND)
    try:
        wire.start(PULLS, rootUri=tmp_path.as_uri())
        wire.open(uris["helpers"], FINISHING)
        pulled = {"textDocument": {"uri": uris["helpers"]}}

        def shown() -> list[str]:
            return [item["code"] for item in wire.request("textDocument/diagnostic", pulled)["result"]["items"]]

        def refreshes() -> int:
            return sum(message.get("method") == "workspace/diagnostic/refresh" for message in wire.seen)

        def wait_for(codes: list[str]) -> None:
            """A refresh may come with an answer that is older than it."""
            before = refreshes()
            while shown() != codes:
                if refreshes() == before:
                    wire.until(lambda message: message.get("method") == "workspace/diagnostic/refresh")
                before = refreshes()

        wait_for(["TL101"])
        last = FINISHING.count("\n")
        for version, letter in enumerate("\nprint(loss)\n", 2):
            wire.change(uris["helpers"], version, edit(last, max(0, version - 3), max(0, version - 3), letter))
            last += version == 2
            assert shown() == ["TL101"], version
        wire.change(uris["helpers"], 99, edit(4, 4, len("    loss.backward()"), "print(loss)"))
        wait_for([])
    finally:
        wire.close()
