"""A file that does not mention PyTorch does not run where it is given plain data; what it returns is unknown, not data:
others may have given it graphs. Each program was run in PyTorch.
"""

from __future__ import annotations

import pytest

from tapelint.analysis import analyse

STORE = """\
class Store:
    def __init__(self, size=0):
        self.size, self.kept = size, []
    def keep(self, x):
        self.kept.append(x)
    def all(self):
        return self.kept
    def last(self):
        return self.kept[-1]
kept = {}
def put(name, x):
    kept[name] = x
def get(*names):
    return [kept[name] for name in names]
def read(name):
    return [float(len(name))] * 3
"""
BEGIN = (
    "import torch\nfrom store import Store, get, put, read\ndef train(x):\n    w = torch.ones(3, requires_grad=True)\n"
)
ENDS_WELL = {
    "concatenated": "    store = Store()\n    store.keep((w * x).exp())\n    torch.cat(store.all()).sum().backward()\n",
    "stacked": "    put('a', w.exp())\n    put('b', w * 2)\n    torch.stack(get('a', 'b')).sum().backward()\n",
    "the last one": "    store = Store(3)\n    store.keep(w.exp().sum())\n    store.last().backward()\n",
    "an attribute": "    store = Store()\n    store.kept.append(w.sum())\n    store.last().backward()\n",
}


def told(body: str) -> list[tuple[str, str]]:
    def resolve(module: str, importer: str) -> tuple[str, str] | None:
        return ("store.py", STORE) if module == "store" else None

    report = analyse(BEGIN + body, "main.py", resolve=resolve)
    return [(each.code, each.severity.word) for each in report.diagnostics]


@pytest.mark.parametrize("body", ENDS_WELL.values(), ids=ENDS_WELL.keys())
def test_what_it_returns_may_have_a_graph(body: str) -> None:
    assert told(body) == []


def test_a_tensor_that_is_made_of_what_it_returns_has_none() -> None:
    assert told("    torch.tensor(read('abc')).sum().backward()\n") == [("TL301", "error")]
