"""Projects with a comment that silences something, although one look at the file may not show it: by name, the texts of
the files. None of them may lose its comment to a fix that was not asked for by name.
"""

from __future__ import annotations

import json

HEAD = "import torch\n\nw = torch.ones(3, requires_grad=True)\n"
HOPELESS = "torch.arange(3).sum().backward()\n"
"""An error that has no fix, no unsafe one either: integers cannot require grad."""
HAZARD = "a = w.exp()\na += 1  # {}\na.sum().backward()\n"
IGNORED = HAZARD.format("tapelint: ignore[TL201]")

RANGE = "# tapelint: disable[TL201]\na = w.exp()\na += 1\n# tapelint: enable[TL201]\na.sum().backward()\n"


def _inside(header: str, body: str = IGNORED) -> str:
    return header + "".join(f"    {row}" for row in body.splitlines(keepends=True))


def _notebook(*cells: str) -> str:
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


HELPER = (
    "import torch\n\n\ndef bump(t):\n    t += 1  # tapelint: ignore[TL201]\n    return t\n\n\nbump(torch.ones(3))\n"
)
MAIN = "from helper import bump\n" + HEAD + "e = w.exp()\nbump(e)\ne.sum().backward()\n"
BUMP = "t += 1  # tapelint: ignore[TL201]\n"

NEEDED: dict[str, dict[str, str]] = {
    "below an error": {"a.py": HEAD + HOPELESS + IGNORED},
    "below an error, noqa": {"a.py": HEAD + HOPELESS + HAZARD.format("noqa: TL201")},
    "below an error, the whole file": {
        "a.py": "# tapelint: ignore-file[TL307]\n" + HEAD + HOPELESS + "w.exp().backward()\n"
    },
    "behind a condition that does not hold": {"a.py": HEAD + _inside("DEBUG = False\nif DEBUG:\n")},
    "below a return": {"a.py": HEAD + _inside("def f():\n", "return 1\n" + IGNORED) + "f()\n"},
    "another file shows it": {"helper.py": HELPER, "main.py": MAIN},
    "on a line of its own": {"a.py": HEAD + "a = w.exp()\n# tapelint: ignore[TL201]\na += 1\na.sum().backward()\n"},
    "below an error, a range": {"a.py": HEAD + HOPELESS + RANGE},
    "below an error, the line before": {
        "a.py": HEAD + HOPELESS + "a = w.exp()  # tapelint: ignore-next-line[TL201]\na += 1\na.sum().backward()\n"
    },
    "below an error, by name": {"a.py": HEAD + HOPELESS + HAZARD.format("tapelint: ignore[saved-tensor-modified]")},
    # Neighbours.
    "every code": {"a.py": HEAD + HOPELESS + HAZARD.format("tapelint: ignore")},
    "below an error that a comment silences": {
        "a.py": HEAD + HOPELESS.strip() + "  # tapelint: ignore[TL301]\n" + IGNORED
    },
    "below an error that is caught": {
        "a.py": HEAD + _inside("try:\n", HOPELESS + IGNORED) + "except RuntimeError:\n    pass\n"
    },
    "in a handler": {"a.py": HEAD + "try:\n    f = open('x')\n" + _inside("except OSError:\n")},
    "two comments on one row": {"a.py": HEAD + HOPELESS + HAZARD.format("noqa: TL201  # tapelint: ignore[TL102]")},
    "two codes, one of which is seen to be used": {
        "a.py": HEAD
        + "n = w.sum().detach().requires_grad_()  # tapelint: ignore[TL303, TL102]\nn.backward()\n"
        + HOPELESS
    },
    "broken elsewhere": {"a.py": HEAD + "for x in (\n\n" + IGNORED + "\n\ndef f(:\n    pass\n"},
    "a row that looks alike on one side": {
        "a.py": HEAD + "USED = False\n" + IGNORED.replace("w.exp()", "w.exp() if USED else w * 2")
    },
    "a loop that has nothing to do": {"a.py": HEAD + _inside("for i in range(0):\n")},
    "a function that nobody calls": {"a.py": HEAD + _inside("def test(t):\n", BUMP + "t.sum().backward()\n")},
    "a method that a framework calls": {
        "a.py": "import torch\nimport lightning as L\n\n\nclass Net(L.LightningModule):\n"
        "    def training_step(self, batch, index):\n        h = self.net(batch)\n"
        "        h += 1  # tapelint: ignore[TL201]\n        return h.sum()\n"
    },
    "a callback that an unknown library is given": {
        "a.py": HEAD + "import unknown\n" + _inside("def f(t):\n", BUMP) + "unknown.run(f)\n"
    },
    "a lambda that is not called": {
        "a.py": HEAD + "f = lambda t: t.add_(1)  # tapelint: ignore[TL201]\ne = w.exp()\ne.sum().backward()\n"
    },
    "an import that is made up": {
        "helper.py": HELPER,
        "main.py": "import importlib\n\nimportlib.import_module('he' + 'lper')\n",
    },
    "a notebook imports it": {"helper.py": HELPER, "b.ipynb": _notebook("from helper import bump\n", "bump(1)\n")},
    "a notebook with an error": {"a.ipynb": _notebook(HEAD, HOPELESS, IGNORED)},
    "no rule has the code yet": {"a.py": HEAD + "a = w.exp()  # tapelint: ignore[TL999]\n"},
}
