"""Writes expressions: forms of the catalogue over what the scope has, calls of modules, functions and losses."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from .catalogue import by_result
from .scope import Callee, Scope, Variable

Inner = Callable[[str], "Made"]

NUMBERS = ("2", "0.5", "3.0", "-1", "1")
FRESH = {
    "S": "torch.rand(())",
    "V": "torch.rand(4)",
    "M": "torch.rand(4, 4)",
    "H": "torch.rand(2, 4)",
    "W": "torch.rand(2)",
}
PARTS = {
    "S": (("V", "{0}[1]"), ("M", "{0}[0, 1]"), ("V", "{0}[-1]"), ("W", "{0}[0]")),
    "V": (
        ("M", "{0}[0]"),
        ("M", "{0}[:, 1]"),
        ("V", "{0}[:]"),
        ("H", "{0}[1]"),
        ("M", "{0}.diagonal()"),
        ("M", "{0}.select(0, 2)"),
    ),
    "M": (
        ("M", "{0}.t()"),
        ("M", "{0}.transpose(0, 1)"),
        ("M", "{0}.view(4, 4)"),
        ("M", "{0}.T"),
        ("V", "{0}.expand(4, 4)"),
    ),
    "H": (("M", "{0}[:2]"), ("M", "{0}[1:3]"), ("M", "{0}.narrow(0, 0, 2)"), ("M", "{0}.chunk(2)[1]")),
    "W": (("V", "{0}[:2]"), ("V", "{0}[2:]"), ("H", "{0}[:, 0]"), ("V", "{0}.view(2, 2)[0]")),
}
"""Views: the type of the whole, and how the part is written."""
MIXED = {
    "S": (("V", "V", "{0} @ {1}"), ("W", "W", "({0} * {1}).sum()")),
    "V": (
        ("M", "V", "{0} @ {1}"),
        ("V", "S", "{0} * {1}"),
        ("V", "M", "({0} + {1}).mean(0)"),
        ("W", "W", "torch.cat([{0}, {1}])"),
    ),
    "M": (
        ("M", "M", "{0} @ {1}"),
        ("M", "V", "{0} * {1}"),
        ("H", "H", "torch.cat([{0}, {1}])"),
        ("M", "S", "{0} / {1}"),
    ),
    "H": (("H", "M", "{0} @ {1}"), ("H", "V", "{0} + {1}"), ("V", "V", "torch.stack([{0}, {1}])")),
    "W": (("H", "V", "{0} @ {1}"), ("S", "S", "torch.stack([{0}, {1}])")),
}
LOSSES = (
    ("VV", "F.mse_loss({0}, {1})"),
    ("MM", "F.mse_loss({0}, {1})"),
    ("MM", "F.l1_loss({0}, {1})"),
    ("MM", "nn.MSELoss()({0}, {1})"),
    ("VV", "F.smooth_l1_loss({0}, {1})"),
    ("VV", "F.huber_loss({0}, {1})"),
    ("M", "F.cross_entropy({0}, torch.tensor([0, 1, 2, 3]))"),
    ("M", "F.nll_loss(F.log_softmax({0}, dim=1), torch.tensor([0, 1, 2, 3]))"),
    ("M", "nn.CrossEntropyLoss()({0}, torch.tensor([3, 2, 1, 0]))"),
    ("VV", "F.binary_cross_entropy_with_logits({0}, {1})"),
    ("MM", "F.cosine_similarity({0}, {1}).mean()"),
    ("V", "{0}.pow(2).mean()"),
    ("M", "({0} ** 2).sum()"),
)
SMALL = (
    "{0}.sum()",
    "{0}.mean()",
    "({0} * {0}).sum()",
    "{0}.norm()",
    "{0}.square().mean()",
    "{0}.max()",
    "{0}.logsumexp(0).sum()",
)
OPERATORS = ("+", "+", "-", "*", "*", "/")


@dataclass(frozen=True, slots=True)
class Made:
    """An expression, and roughly what it is."""

    text: str
    grad: bool
    past: frozenset[int]
    leaf: bool = False

    def then(self, text: str, leaf: bool = False) -> Made:
        """The value of one op on this; ``leaf`` is true for a view of a leaf."""
        return Made(text, self.grad, self.past, leaf)


def of(variable: Variable) -> Made:
    return Made(variable.text, variable.grad, variable.past, variable.leaf)


def combined(text: str, parts: list[Made]) -> Made:
    past = frozenset().union(*(p.past for p in parts)) if parts else frozenset()
    return Made(text, any(p.grad for p in parts), past)


def atom(rng: random.Random, scope: Scope, kind: str, careful: bool) -> Made:
    found = scope.pick(rng, kind, careful)
    return of(found) if found else Made(FRESH[kind], False, frozenset())


def expression(rng: random.Random, scope: Scope, kind: str, depth: int = 1, careful: bool = True) -> Made:
    """An expression of type ``kind`` with up to ``depth`` ops one inside the other."""
    if depth <= 0 or rng.random() < 0.12:
        return atom(rng, scope, kind, careful)

    def inner(other: str) -> Made:
        return expression(rng, scope, other, depth - 1, careful)

    roll = rng.random()
    if roll < 0.46:
        return _operation(rng, kind, roll, inner)
    if roll < 0.60 and (found := _call(rng, scope, kind, roll, inner)) is not None:
        return found
    if roll < 0.66 and kind == "S":
        return loss(rng, scope, careful, depth)
    if roll < 0.68:
        part = inner(kind)
        return part.then(f"{part.text}.clone()")
    if roll < 0.69:
        part = inner(kind)
        return Made(f"{part.text}.detach()", False, frozenset())
    return form(rng, scope, kind, depth, careful)


def _call(rng: random.Random, scope: Scope, kind: str, roll: float, inner: Inner) -> Made | None:
    """A call of a module, if ``roll`` is below 0.54, or of a function, as far as there are any."""
    modules = [m for m, kinds in scope.modules.items() if kind in kinds]
    if roll < 0.54 and modules:
        part = inner(kind)
        return Made(f"{rng.choice(modules)}({part.text})", True, part.past)
    fitting = [f for f in scope.functions if f.gives == kind and not f.several]
    return called(rng.choice(fitting), inner) if fitting else None


def _operation(rng: random.Random, kind: str, roll: float, inner: Inner) -> Made:
    """Operators, parts of a tensor, and ops of two tensors of different types; ``roll`` is below 0.46."""
    if roll < 0.22:
        left, operator = inner(kind), rng.choice(OPERATORS)
        if rng.random() < 0.4:
            number = rng.choice(NUMBERS)
            text = f"{number} {operator} {left.text}" if rng.random() < 0.25 else f"{left.text} {operator} {number}"
            return left.then(f"({text})")
        right = inner(kind)
        return combined(f"({left.text} {operator} {right.text})", [left, right])
    if roll < 0.25:
        left = inner(kind)
        return left.then(rng.choice((f"{left.text} ** 2", f"-{left.text}", f"2 ** {left.text}")).join("()"))
    if roll < 0.36:
        whole, text = rng.choice(PARTS[kind])
        part = inner(whole)
        return part.then(text.format(part.text), part.leaf)
    one, two, text = rng.choice(MIXED[kind])
    parts = [inner(one), inner(two)]
    return combined(text.format(*(p.text for p in parts)).join("()"), parts)


def called(function: Callee, inner: Inner) -> Made:
    """A call of one of the program's own functions. What it closes over may need a gradient."""
    parts = [inner(kind) for kind in function.takes]
    made = combined(f"{function.text}({', '.join(p.text for p in parts)})", parts)
    return Made(made.text, True, made.past)


def form(rng: random.Random, scope: Scope, kind: str, depth: int, careful: bool) -> Made:
    """An op of the table."""
    table = by_result()
    pool = table.get((kind, False, rng.random() < 0.5)) or table[kind, False, False]
    chosen = rng.choice(pool[rng.choice(sorted(pool))])
    parts = [expression(rng, scope, t, depth - 1, careful) for t in chosen.takes]
    made = combined(chosen.text.format(*(p.text for p in parts)), parts)
    return made.then(made.text, chosen.views and any(p.leaf for p in parts))


def loss(rng: random.Random, scope: Scope, careful: bool = True, depth: int = 1) -> Made:
    """A scalar to run backward from: of something that needs a gradient, if there is anything."""
    trained = scope.trained(careful)
    if trained and rng.random() < 0.5:
        chosen = rng.choice(trained[-4:])
        return of(chosen).then(chosen.text if chosen.type == "S" else rng.choice(SMALL).format(chosen.text))
    takes, text = rng.choice(LOSSES)
    parts = [expression(rng, scope, t, depth - 1, careful) for t in takes]
    if not any(p.grad for p in parts):
        modules = [m for m in scope.networks if takes[0] in scope.modules[m]]
        if modules:
            parts[0] = Made(f"{rng.choice(modules)}({parts[0].text})", True, parts[0].past)
        elif trained:
            return _loss_of(rng, [v for v in trained if v.type == takes[0]] or trained)
    return combined(text.format(*(p.text for p in parts)), parts)


def _loss_of(rng: random.Random, trained: list[Variable]) -> Made:
    """A scalar of one of the variables that need a gradient."""
    chosen = rng.choice(trained)
    return of(chosen).then(rng.choice(SMALL).format(chosen.text) if chosen.type != "S" else f"({chosen.text} * 2)")
