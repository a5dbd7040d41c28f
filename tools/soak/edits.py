"""Random edits of a program, as somebody makes them who types in one line."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

STATEMENTS = (
    "pass",
    "print('here')",
    "y += 1",
    "loss.backward()",
    "with torch.no_grad():",
    "opt.zero_grad()",
    "return",
    "if y: break",
)


def changed(text: str, chance: Random) -> str:
    """The text after a random edit of one line."""
    lines = text.split("\n")
    row = chance.randrange(len(lines))
    line = lines[row]
    indent = line[: len(line) - len(line.lstrip())]
    ways: dict[str, Callable[[], list[str]]] = {
        "remark": lambda: [f"{line}  # a remark"],
        "blank": lambda: ["", line],
        "statement": lambda: [indent + chance.choice(STATEMENTS), line],
        "delete": list,
        "cut": lambda: [line[: chance.randint(0, len(line))]],
        "copy": lambda: [indent + chance.choice(lines).strip(), line],
        "number": lambda: [line.replace("1", "2") if "1" in line else line.replace("0", "1")],
        "rename": lambda: [line.replace("self.", "this.") if "self." in line else line.replace("x", "z")],
    }
    lines[row : row + 1] = ways[chance.choice(list(ways))]()
    return "\n".join(lines)
