"""How a program begins: leaves, data, modules, functions, optimizers; and what every statement needs to be written."""

from __future__ import annotations

import random
from itertools import count

from .catalogue import SHAPES, by_result
from .expressions import FRESH, NUMBERS, Made, expression
from .scope import Scope, Variable

NETS = (
    "nn.Linear(4, 4)",
    "nn.Linear(4, 4, bias=False)",
    "nn.Sequential(nn.Linear(4, 4), nn.ReLU())",
    "nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Linear(4, 4))",
    "nn.Sequential(nn.Linear(4, 4), nn.Sigmoid())",
    "nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 4), nn.Tanh())",
    "nn.Sequential(nn.Linear(4, 4), nn.LeakyReLU(0.1, inplace=True), nn.Dropout(0.5))",
    "nn.Sequential(nn.Linear(4, 4), nn.Hardtanh(inplace=True), nn.Softmax(dim=-1))",
    "nn.Tanh()",
    "nn.Sequential(nn.Linear(4, 4), nn.ELU(inplace=True))",
    "nn.Softplus()",
    "nn.Sequential(nn.Linear(4, 4), nn.SiLU(inplace=True))",
)
OPTIMIZERS = ("torch.optim.SGD({}, lr=0.1)", "torch.optim.SGD({}, lr=0.1, momentum=0.9)", "torch.optim.Adam({})")
SPOTS = {
    "S": (("{0}.fill_({1})", "n"), ("{0}.copy_({1})", "S")),
    "V": (
        ("{0}[0] = {1}", "S"),
        ("{0}[1:3] = {1}", "n"),
        ("{0}[2:] = {1}", "W"),
        ("{0}[:] = {1}", "V"),
        ("{0}[-1] += {1}", "S"),
    ),
    "M": (
        ("{0}[0] = {1}", "V"),
        ("{0}[:2] = {1}", "H"),
        ("{0}[:, 1] = {1}", "V"),
        ("{0}[1, 2] = {1}", "S"),
        ("{0}[2:] *= {1}", "n"),
    ),
    "H": (("{0}[0] = {1}", "V"), ("{0}[:, 0] = {1}", "W"), ("{0}[1] *= {1}", "n")),
    "W": (("{0}[0] = {1}", "S"), ("{0}[1] = {1}", "n")),
}


class Writer:
    """Writes one program, as far as it begins. ``daring`` is how often it forgets to be careful."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.indent = 0
        self.scope = Scope()
        self.numbers = count()
        self.left = self.rng.randint(5, 40)
        self.daring = self.rng.choice((0.0, 0.05, 0.2))
        self.in_no_grad = False

    def write(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def fresh(self, prefix: str) -> str:
        return f"{prefix}{next(self.numbers)}"

    def careful(self) -> bool:
        return self.rng.random() >= self.daring

    def expr(self, kind: str, depth: int | None = None) -> Made:
        return expression(
            self.rng, self.scope, kind, self.rng.choice((1, 1, 2)) if depth is None else depth, self.careful()
        )

    def kind(self) -> str:
        return self.rng.choice("SVVMMMHW")

    def keep(self, text: str, kind: str, grad: bool, past: frozenset[int] = frozenset(), **facts: bool) -> None:
        grad = grad and not self.in_no_grad
        past = past | {next(self.numbers)} if grad and not facts.get("leaf") else frozenset()
        self.scope.variables.pop(text, None)
        self.scope.variables[text] = Variable(
            text, kind, grad, facts.get("leaf", False), past, facts.get("many", False)
        )

    # The beginning

    def prologue(self) -> None:
        rng = self.rng
        for _ in range(rng.randint(1, 3)):
            kind = rng.choice("VMMS")
            name = self.fresh("x")
            shape = ", ".join(map(str, SHAPES[kind])) or "()"
            made = rng.choice((f"torch.rand({shape}, requires_grad=True)", f"torch.rand({shape}).requires_grad_()"))
            self.write(f"{name} = {made if rng.random() < 0.8 else f'nn.Parameter(torch.rand({shape}))'}")
            self.keep(name, kind, True, leaf=True)
        for _ in range(rng.randint(0, 2)):
            kind, name = self.kind(), self.fresh("d")
            self.write(f"{name} = {FRESH[kind]}")
            self.keep(name, kind, False)
        for _ in range(rng.choice((0, 1, 1, 2))):
            name = self.fresh("net")
            self.write(f"{name} = {rng.choice(NETS)}")
            self.scope.modules.append(name)
        if rng.random() < 0.25:
            self.network()
        if rng.random() < 0.3:
            self.function()
        if rng.random() < 0.5:
            self.optimizer()
        if rng.random() < 0.3:
            name = self.fresh("n")
            self.write(f"{name} = {rng.randint(0, 3)}")
            self.scope.numbers.append(name)
        if rng.random() < 0.25:
            self.write("class Box:")
            self.write("    pass")
            self.write("box = Box()")
            made = self.expr(kind := self.kind())
            self.write(f"box.h = {made.text}")
            self.keep("box.h", kind, made.grad, made.past, leaf=made.leaf)

    def network(self) -> None:
        name = self.fresh("Net")
        inner = self.rng.choice(
            (
                "self.b(F.relu(self.a(x)))",
                "self.b(self.a(x).tanh()) + x",
                "self.a(x).relu_() * self.w",
                "self.b(self.a(x) * self.w)",
            )
        )
        self.lines += [
            f"class {name}(nn.Module):",
            "    def __init__(self):",
            "        super().__init__()",
            "        self.a = nn.Linear(4, 4)",
            "        self.b = nn.Linear(4, 4)",
            "        self.w = nn.Parameter(torch.ones(4))",
            "    def forward(self, x):",
            f"        return {inner}",
        ]
        made = self.fresh("net")
        self.write(f"{made} = {name}()")
        self.scope.modules.append(made)

    def function(self) -> None:
        """A function of one or two tensors; its body sees the leaves too."""
        rng, name = self.rng, self.fresh("f")
        takes = tuple(rng.choice("VM") for _ in range(rng.randint(1, 2)))
        gives = rng.choice("VMS")
        parameters = ["a", "b"][: len(takes)]
        self.write(f"def {name}({', '.join(parameters)}):")
        outer, self.scope = self.scope, self.scope.copy()
        for parameter, kind in zip(parameters, takes):
            self.keep(parameter, kind, True)
        self.indent += 1
        if rng.random() < 0.5:
            kind = rng.choice("VM")
            made = self.expr(kind)
            self.write(f"c = {made.text}")
            self.keep("c", kind, True, leaf=made.leaf or made.text in "ab")
            if rng.random() < 0.4:
                self.in_place("c")
        self.write(f"return {self.expr(gives).text}")
        self.indent -= 1
        self.scope = outer
        self.scope.functions[name] = (takes, gives)

    def optimizer(self) -> None:
        leaves = [v.text for v in self.scope.variables.values() if v.leaf]
        what = [f"{m}.parameters()" for m in self.scope.modules if m.startswith("net")]
        what = [w for w in what if self.trainable(w)] + [f"[{', '.join(leaves)}]"]
        name = self.fresh("opt")
        self.write(f"{name} = {self.rng.choice(OPTIMIZERS).format(self.rng.choice(what))}")
        self.scope.optimizers.append(name)

    def trainable(self, parameters: str) -> bool:
        name = parameters.partition(".")[0]
        made = next(line for line in self.lines if line.startswith(f"{name} ="))
        return "Linear" in made or "Net" in made

    def in_place(self, text: str) -> None:
        """``+=``, an in-place op of the table, or a part that is assigned."""
        rng = self.rng
        old = self.scope.variables[text]
        roll = rng.random()
        if roll < 0.35:
            made = self.expr(old.type, 1)
            value = rng.choice(NUMBERS) if rng.random() < 0.4 else made.text
            self.write(f"{text} {rng.choice(('+=', '+=', '-=', '*=', '/='))} {value}")
        elif roll < 0.6:
            spot, takes = rng.choice(SPOTS[old.type])
            made = self.expr(takes, 1) if takes != "n" else None
            self.write(spot.format(text, made.text if made else rng.choice(NUMBERS)))
        else:
            pool = by_result().get((old.type, True, rng.random() < 0.6)) or {}
            if not pool:
                return self.write(f"{text}.mul_(2)")
            form = rng.choice(pool[rng.choice(sorted(pool))])
            if form.takes[0] != old.type:
                return self.write(f"{text}.add_(1)")
            parts = [text, *(self.expr(t, 0).text for t in form.takes[1:])]
            made = None
            self.write(form.text.format(*parts))
        grad = old.grad or bool(made and made.grad)
        self.keep(text, old.type, grad, old.past | (made.past if made else frozenset()), leaf=old.leaf)
