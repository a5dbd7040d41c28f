"""Writes programs: after the beginning, random statements of every kind."""

from __future__ import annotations

from collections.abc import Callable

from .expressions import PARTS, loss, of
from .scope import Variable
from .writer import Writer

PREAMBLE = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
FLAGS = ("", "", "", "", "retain_graph=True", "retain_graph=True", "retain_graph=False", "create_graph=True")


class Author(Writer):
    """Goes on where the beginning ends."""

    # Statements

    def statement(self) -> None:
        self.left -= 1
        chosen: Callable[[], None] = self.rng.choices([k for k, _ in KINDS], [w for _, w in KINDS])[0]
        chosen(self)

    def assign(self) -> None:
        kind = self.kind()
        made = self.expr(kind)
        name = self.fresh("t")
        self.write(f"{name} = {made.text}")
        self.keep(name, kind, made.grad, made.past, leaf=made.leaf)

    def carry(self) -> None:
        """Assign a variable again, in terms of itself more often than not."""
        old = self.target()
        if old is None:
            return self.assign()
        made = self.expr(old.type)
        text, grad, past = made.text, made.grad, made.past
        if self.rng.random() < 0.6:
            text, grad, past = f"{old.text} {self.rng.choice('+*')} {made.text}", grad or old.grad, past | old.past
        self.write(f"{old.text} = {text}")
        self.keep(old.text, old.type, grad, past, leaf=made.leaf and text is made.text)

    def target(self, written: bool = False) -> Variable | None:
        found = [v for v in self.scope.variables.values() if not v.leaf and not (written and v.many)]
        if not self.careful():
            found = [v for v in self.scope.variables.values() if written or not v.leaf]
        return self.rng.choice(found[-6:]) if found else None

    def write_in_place(self) -> None:
        old = self.target(written=True)
        if old is None:
            return self.assign()
        self.in_place(old.text)

    def view(self) -> None:
        """A name for a part of a variable, to be written later."""
        kind = self.kind()
        whole_kind, text = self.rng.choice(PARTS[kind])
        whole = self.scope.pick(self.rng, whole_kind, self.careful())
        if whole is None:
            return self.assign()
        name = self.fresh("v")
        self.write(f"{name} = {text.format(whole.text)}")
        self.keep(name, kind, whole.grad, whole.past, leaf=whole.leaf)

    def parts(self) -> None:
        """Several views at once."""
        whole = self.scope.pick(self.rng, "M", self.careful())
        if whole is None:
            return self.assign()
        names = [self.fresh("p") for _ in range(2)]
        text, kind = self.rng.choice(
            (
                ("{0}.chunk(2)", "H"),
                ("{0}.split(2)", "H"),
                ("{0}.tensor_split(2)", "H"),
                ("{0}.unbind()", "V"),
                ("{0}", "V"),
            )
        )
        more = ", _, _" if kind == "V" else ""
        self.write(f"{', '.join(names)}{more} = {text.format(whole.text)}")
        for name in names:
            self.keep(name, kind, whole.grad, whole.past, leaf=whole.leaf, many="tensor_split" not in text)

    def backward(self) -> None:
        rng = self.rng
        if self.in_no_grad:
            return self.assign()
        root = loss(rng, self.scope, self.careful(), rng.choice((1, 1, 2)))
        if not root.grad and self.careful():
            return self.assign()
        flag = rng.choice(FLAGS)
        form = rng.random()
        if form < 0.12:
            other = loss(rng, self.scope, self.careful())
            if other.grad:
                root = type(root)(f"{root.text}, {other.text}", True, root.past | other.past)
            self.write(f"torch.autograd.backward([{root.text}]{', ' + flag if flag else ''})")
        elif form < 0.25:
            self.gradient(root.text, flag)
        elif form < 0.5:
            name = self.fresh("loss")
            self.write(f"{name} = {root.text}")
            self.keep(name, "S", root.grad, root.past)
            root = of(self.scope.variables[name])
            if rng.random() < 0.4:
                for _ in range(rng.randint(1, 2)):
                    self.statement()
            self.write(f"{name}.backward({flag})")
        else:
            self.write(f"({root.text}).backward({flag})")
        if flag in ("", "retain_graph=False"):
            self.scope.freed |= root.past
        if self.scope.optimizers and rng.random() < 0.5:
            name = rng.choice(self.scope.optimizers)
            self.write(f"{name}.step()")
            if rng.random() < 0.5:
                self.write(f"{name}.zero_grad({rng.choice(('', '', 'set_to_none=False'))})")

    def gradient(self, root: str, flag: str) -> None:
        leaves = [v for v in self.scope.variables.values() if v.leaf and v.grad]
        if not leaves:
            return self.write(f"({root}).backward({flag})")
        leaf = self.rng.choice(leaves)
        name = self.fresh("g")
        rest = f", {flag}" if flag else ""
        self.write(f"{name}, = torch.autograd.grad({root}, [{leaf.text}]{rest}, allow_unused=True)")
        if "create" in flag and self.rng.random() < 0.6:
            self.write(f"{name} = {leaf.text} * 1 if {name} is None else {name}")
            self.keep(name, leaf.type, True)

    def step(self) -> None:
        if not self.scope.optimizers:
            return self.backward()
        self.write(f"{self.rng.choice(self.scope.optimizers)}.{self.rng.choice(('step', 'step', 'zero_grad'))}()")

    def cut(self) -> None:
        """detach, clone, .data and flags."""
        rng = self.rng
        old = self.scope.pick(rng, self.kind(), self.careful())
        if old is None:
            return self.assign()
        how = rng.choice(
            (
                "detach()",
                "detach()",
                "clone()",
                "detach().clone()",
                "data",
                "detach().requires_grad_()",
                "detach().clone().requires_grad_()",
            )
        )
        name = self.fresh("c")
        self.write(f"{name} = {old.text}.{how}")
        leaf = how.endswith("requires_grad_()")
        self.keep(
            name,
            old.type,
            how == "clone()" and old.grad or leaf,
            old.past if how == "clone()" else frozenset(),
            leaf=leaf,
        )
        if rng.random() < 0.15 and old.text != name and not old.leaf:
            self.write(f"{old.text}.detach_()")

    def hold(self) -> None:
        """Lists: append, read back, add up."""
        rng, lists = self.rng, self.scope.lists
        if not lists or rng.random() < 0.3 and not self.indent:
            kind, name = rng.choice("SVM"), self.fresh("items")
            made = self.expr(kind)
            self.write(f"{name} = [{made.text}]")
            lists[name] = kind
            self.keep(f"{name}[-1]", kind, made.grad, made.past, leaf=made.leaf)
            return
        name = rng.choice(sorted(lists))
        kind = lists[name]
        roll = rng.random()
        if roll < 0.55:
            made = self.expr(kind)
            self.write(f"{name}.append({made.text})")
            before = self.scope.variables.get(f"{name}[-1]")
            self.keep(
                f"{name}[-1]", kind, made.grad, made.past | (before.past if before else frozenset()), leaf=made.leaf
            )
            return
        made = rng.choice((f"sum({name})", f"torch.stack({name}).sum(0)", f"sum(e * 2 for e in {name})", f"{name}[0]"))
        held = self.scope.variables.get(f"{name}[-1]")
        total = self.fresh("s")
        self.write(f"{total} = {made}")
        self.keep(total, kind, bool(held and held.grad), held.past if held else frozenset())

    # Blocks

    def body(self, header: str, most: int = 4) -> None:
        self.write(header)
        self.indent += 1
        outer, self.scope = self.scope, self.scope.copy()
        for _ in range(self.rng.randint(1, most)):
            self.statement()
        self.write("pass") if self.lines[-1].endswith(":") else None
        self.indent -= 1
        for text, variable in list(self.scope.variables.items()):
            if text in outer.variables:
                outer.variables[text] = variable
        self.scope = outer

    def loop(self) -> None:
        if self.indent > 1:
            return self.assign()
        rng = self.rng
        index = self.fresh("i")
        roll = rng.random()
        matrix = self.scope.pick(rng, "M")
        if roll < 0.1 and matrix is not None:
            self.keep(index, "V", matrix.grad, matrix.past, leaf=matrix.leaf, many=True)
            self.body(f"for {index} in {matrix.text}:")
            self.scope.variables.pop(index, None)
        elif roll < 0.2:
            self.write(f"{index} = 0")
            self.body(f"while {index} < {rng.randint(1, 3)}:")
            self.write(f"    {index} += 1")
        else:
            self.scope.counters.append(index)
            self.body(f"for {index} in range({rng.randint(1, 4)}):")
            self.scope.counters.remove(index)

    def branch(self) -> None:
        if self.indent > 2:
            return self.assign()
        rng, scope = self.rng, self.scope
        tests = [f"{c} > 0" for c in scope.counters] + [f"{c} % 2 == 0" for c in scope.counters]
        tests += [f"{n} > {rng.randint(0, 2)}" for n in scope.numbers] + ["True", "not False"]
        if rng.random() < 0.06:
            tests = ["torch.rand(()).item() > 0.5"]
        self.body(f"if {rng.choice(tests)}:")
        if rng.random() < 0.4:
            self.body("else:")

    def without_grad(self) -> None:
        if self.in_no_grad or self.indent > 1:
            return self.assign()
        self.in_no_grad = True
        self.body(self.rng.choice(("with torch.no_grad():",) * 4 + ("with torch.set_grad_enabled(False):",)), 2)
        self.in_no_grad = False


KINDS = (
    (Author.assign, 20),
    (Author.carry, 10),
    (Author.write_in_place, 14),
    (Author.view, 7),
    (Author.parts, 3),
    (Author.backward, 15),
    (Author.step, 3),
    (Author.cut, 6),
    (Author.hold, 7),
    (Author.loop, 7),
    (Author.branch, 5),
    (Author.without_grad, 4),
)


def program(seed: int) -> str:
    """The program of a seed; always the same one."""
    writer = Author(seed)
    writer.prologue()
    while writer.left > 0:
        writer.statement()
    writer.scope.freed.clear() if writer.rng.random() < writer.daring else None
    writer.backward()
    return PREAMBLE + "\n".join(writer.lines) + "\n"
