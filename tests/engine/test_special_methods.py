"""The engine on objects that do not do what Python asks of them: it never gives an entry point up.

Programs are made of a class with some special methods, whose bodies return the wrong thing, raise, yield or call one
another, and of statements that ask for them in every way Python does. They need not make sense; they are never run.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapelint.analysis import analyse
from tapelint.models.torch.registry import FUNCTIONS

HEAD = """
import contextlib, copy, functools, itertools
import torch
from torch import nn
W = torch.ones(3, requires_grad=True)
net = nn.Linear(3, 3)
"""
METHODS = (
    "__iter__() __next__() __getitem__(i) __setitem__(i,v) __delitem__(i) __len__() __bool__() __contains__(v) "
    "__call__(*a,**k) __enter__() __exit__(*a) __getattr__(name) __setattr__(name,v) __add__(o) __radd__(o) "
    "__iadd__(o) __matmul__(o) __eq__(o) __hash__() __int__() __neg__() __aiter__() __await__() __new__(*a) "
    "__init__(*a) __torch_function__(*a,**k) forward(*a) parameters() items() keys() value()"
).split()
BASES = (
    *("object nn.Module torch.utils.data.Dataset list dict tuple Exception torch.Tensor".split()),
    *("torch.autograd.Function torch.optim.Optimizer nn.ModuleList nn.Linear type unknown.Base".split()),
)
DECORATORS = (
    *([""] * 3),
    "@property",
    "@staticmethod",
    "@classmethod",
    "@torch.no_grad()",
    "@contextlib.contextmanager",
)
VALUES = (
    *("self None 1 -1 2.5 'x' () (1,2) [self] {} self.value self[0] self() next(self) len(self) list(self)".split()),
    *("[*self] {**self} {self:self} [x~for~x~in~self] (x~for~x~in~self) iter([1,2]) iter(self)".split()),
    *("torch.ones(3) W.sum() W[self] net(self) Odd() Odd type(self)() super().__iter__() unknown(self)".split()),
    *("float('inf') float('nan') 10**400 [self]*10**12 1<<10**9 range(10**25) [1,2][::0] self[::0] 1/0".split()),
    *("zip(self,self) enumerate(self) map(self,self) self==self self~in~self self+self self@W not~self".split()),
)
BODIES = (
    "return {v}",
    "if {v}:\n    return {v}",
    "for x in {v}:\n    self.value = x",
    "self.value = {v}",
    "raise StopIteration",
    "raise IndexError",
    "raise {v}",
    "with {v} as y:\n    return y",
    "try:\n    return {v}\nexcept StopIteration:\n    pass",
    "a, *b = {v}",
    "self[0] = {v}",
    "self += {v}",
    "while {v}:\n    break",
    "yield {v}",
    "yield from {v}",
    "match {v}:\n    case (a, b):\n        return a\n    case Odd(value=1):\n        return self",
    "({v}).backward()",
)
USES = (
    "for x in o:\n    net(x).sum().backward()",
    "for i, x in enumerate(o):\n    pass",
    "for a, b in zip(o, Odd()):\n    pass",
    "y = [x for x in o if x], {k: v for k, v in o}",
    "a, *b = [*o]\na, b = o",
    "y = next(o), next(iter(o), None), 1 in o, o in o",
    "y = list(o), tuple(o), dict(o), sum(o), max(o, key=o), sorted(o), any(o)",
    "o[0] = o[1:2]\no[0] += 1\ndel o[0]",
    "o.value = o.other\no.value += o",
    "y = o + 1, W @ o, -o, o < 1 < o, o == o",
    "o += 1\no -= W",
    "if o and len(o) or bool(o):\n    pass",
    "with o as (a, b):\n    pass",
    "y = o(W), o(*o, **o), o()()",
    "y = torch.stack(o), torch.cat(list(o)), torch.tensor(o), W[o], W.view(o)",
    "torch.optim.SGD(o.parameters(), lr=o).step(o)",
    "y = Odd.forward(o, W), Odd.__init__(o), o.__iter__().__next__()",
    "y = nn.Sequential(*o)(W), nn.ModuleList(o), copy.deepcopy(o), functools.reduce(o, o)",
    "def each():\n    yield from o\nfor x in each():\n    pass",
    "async def wait():\n    return await o, [x async for x in o]",
    "for k, v in o.items():\n    o.forward(v).sum().backward()",
)


def indented(text: str, by: str) -> str:
    return "".join(f"{by}{line}\n" for line in text.split("\n"))


def program(seed: int) -> str:
    """A program in which a class with odd methods is used; the same for each seed."""
    pick = random.Random(seed)

    def body() -> str:
        lines = [pick.choice(BODIES).replace("{v}", f"({pick.choice(VALUES)})") for _ in range(pick.randint(1, 2))]
        return "\n".join(lines).replace("~", " ")

    text = f"{HEAD}class Odd({pick.choice(BASES)}):\n"
    for method in pick.sample(METHODS, pick.randint(1, 7)):
        name, _, given = method.partition("(")
        decorator = "@property" if name == "value" else pick.choice(DECORATORS)
        head = f"def {name}(self, {given}:"
        text += indented(f"{decorator}\n{head}" if decorator else head, "    ") + indented(body(), " " * 8)
    text += "o = Odd()\n"
    for use in pick.sample(USES, pick.randint(1, 5)):
        kind = pick.randrange(4)
        if kind == 0:
            text += use + "\n"
        elif kind == 1:
            text += "try:\n" + indented(use, "    ") + "except Exception:\n    pass\n"
        elif kind == 2:
            text += "def uncalled(o):\n" + indented(use, "    ")
        else:
            text += "def main(o):\n" + indented(use, "    ") + "main(Odd())\n"
    return text


@given(st.integers(0, 1 << 32))
@settings(max_examples=60, deadline=None)
def test_odd_special_methods_end_no_entry_point(seed: int) -> None:
    text = program(seed)
    compile(text, "odd.py", "exec")
    report = analyse(text, "odd.py")
    assert not report.stats.get("faults"), text


ARGUMENTS = (
    *("", "None", "10**400", "float('inf')", "{'a': 1}", "Odd()", "nn.Linear", "net", "W, W", "torch.zeros(()), 1"),
    *("*unknown, **unknown", "lambda *a: a, range(10**30)", "net, Odd()", "[], {}, None, 1"),
)


@pytest.mark.parametrize("first", "abcdefghijklmnopqrstuvwxyz")
def test_every_model_takes_odd_arguments(first: str) -> None:
    """What the engine knows of a function of a library holds for calls that Python would accept, and ends no other."""
    names = [name for name in sorted(FUNCTIONS) if all(part.isidentifier() for part in name.split("."))]
    odd = "class Odd:\n    def __iter__(self):\n        return self\n    def __next__(self):\n        raise self\n"
    head = f"{HEAD}import builtins\n{odd}def gen():\n    yield 1\n"
    for name in names:
        if name.rpartition(".")[2].lower()[:1] == first:
            module = name.rpartition(".")[0] or name
            calls = (f"def f{i}():\n    import {module}\n    {name}({a})\n" for i, a in enumerate(ARGUMENTS))
            report = analyse(head + "".join(calls), "odd.py")
            assert not report.stats.get("faults"), (name, [str(lost) for lost in report.notices])


def test_iterating_an_object_calls_its_own_methods_only() -> None:
    """Functions that a loop runs before its first iteration are run at once, whatever a stretch is waiting for."""
    heads = ("Odd()", "zip(Odd(), Odd())", "enumerate(Odd())", "[*Odd()]", "list(Odd())", "Odd().value", "Odd()[0]")
    odd = (
        "class Odd:\n    def __getitem__(self, i):\n        return torch.ones(3)\n"
        "    @property\n    def value(self):\n        return [1]\n"
    )
    for head in heads:
        for loop in (f"for x in {head}:\n    pass\n", f"def main():\n    for x in {head}:\n        pass\nmain()\n"):
            text = f"{HEAD}{odd}{loop}torch.ones(3).sum().backward()\n"
            report = analyse(text, "odd.py")
            assert not report.stats.get("faults"), head
            assert [found.name for found in report.diagnostics] == ["backward-without-graph"], head


def test_stop_iteration_is_not_counted_as_failed() -> None:
    odd = (
        "class Odd:\n    def __init__(self):\n        self.left = 2\n    def __iter__(self):\n        return self\n"
        "    def __next__(self):\n        if not self.left:\n            raise StopIteration\n"
        "        self.left -= 1\n        return self.left\n"
    )
    report = analyse(f"{HEAD}{odd}for x in Odd():\n    print(x)\nprint(list(Odd()), next(Odd()))\n", "odd.py")
    assert not report.stats.get("failed")
    report = analyse(f"{HEAD}{odd}for x in Odd():\n    x.missing()\n", "odd.py")
    assert report.stats.get("failed")
