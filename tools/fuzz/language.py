"""Statements of the language that other files have no use for: recursion, partial functions, properties, inheritance,
context managers, the walrus, ``match``.
"""

from __future__ import annotations

from .expressions import Made, of
from .scope import Callee
from .writer import Writer, statement


def call_later(w: Writer, name: str, takes: str, gives: str) -> bool:
    w.scope.functions.append(Callee(name, tuple(takes), gives))
    return True


@statement(1)
def recursion(w: Writer) -> bool:
    if w.indent or w.mode:
        return False
    name, step = w.fresh("f"), w.rng.choice(("a * 2", "a.tanh()", "a + 1", "a.exp() * 0.1"))
    w.write(f"def {name}(a, n={w.rng.randint(1, 3)}):")
    w.write(f"    return a if n == 0 else {name}({step}, n - 1)")
    kind = w.rng.choice("VM")
    return call_later(w, name, kind, kind)


@statement(1)
def partial(w: Writer) -> bool:
    """A function with some of its arguments given, or with as many as there are."""
    if w.indent or w.mode:
        return False
    rng, name, kind = w.rng, w.fresh("f"), w.rng.choice("VM")
    if rng.random() < 0.5:
        given = w.expr(kind, 0)
        w.write(f"{name} = functools.partial(torch.{rng.choice(('mul', 'add', 'sub', 'maximum'))}, {given.text})")
        return call_later(w, name, kind, kind)
    w.write(f"def {name}(*xs, scale=1.0, **more):")
    w.write(f"    return {rng.choice(('sum(xs) * scale', 'xs[0] * xs[-1]', 'torch.stack(xs).prod(0)'))}")
    return call_later(w, name, kind * rng.randint(1, 2), kind)


@statement(1)
def derived_class(w: Writer) -> bool:
    """A network that inherits its forward, with a property for a weight."""
    if w.indent or w.mode:
        return False
    rng, base, cls, name = w.rng, w.fresh("Base"), w.fresh("Net"), w.fresh("net")
    w.write(f"class {base}(nn.Module):")
    w.write("    def __init__(self):")
    w.write("        super().__init__()")
    w.write("        self.a = nn.Linear(4, 4)")
    w.write("    @property")
    w.write("    def scale(self):")
    w.write(f"        return {rng.choice(('self.a.bias.exp()', 'self.a.weight.mean()', '0.5'))}")
    w.write("    def forward(self, x):")
    w.write(f"        return {rng.choice(('self.a(x)', 'self.a(x).relu()', 'self.a(x) * self.scale'))}")
    w.write(f"class {cls}({base}):")
    w.write("    def forward(self, x):")
    w.write(f"        y = super().forward({rng.choice(('x', 'x * 2', 'x.detach()'))})")
    w.write(f"        return {rng.choice(('y', 'y * self.scale', 'y.mul_(2)', 'y + x'))}")
    w.write(f"{name} = {cls}()")
    w.scope.modules[name] = "VM"
    w.scope.networks.append(name)
    return True


@statement(1)
def context(w: Writer) -> bool:
    """A context manager of the program's own."""
    if w.indent > 1:
        return False
    name = w.fresh("around")
    if w.indent == 0 and not w.mode:
        w.write("@contextlib.contextmanager")
        w.write(f"def {name}():")
        silent = w.rng.random() < 0.4
        if silent:
            w.write("    with torch.no_grad():")
        w.write(f"    {'    ' * silent}yield")
        w.body(f"with {name}():", 3, mode="no_grad" if silent else "")
        return True
    return False


@statement(2)
def named_in_place(w: Writer) -> bool:
    """``:=`` in a test or in an expression."""
    kind = w.kind()
    made, name = w.expr(kind, 1), w.fresh("t")
    if w.rng.random() < 0.5 and w.indent < 2:
        w.write(f"if ({name} := {made.text}).requires_grad:")
        with w.block("pass  # the branch", "branch") as inner:
            inner.variables.clear()
            w.lines.pop()
            w.keep(name, made if not made.leaf else Made("", made.grad, made.past), kind)
            w.statements(2)
        return True
    other = w.fresh("t")
    w.write(f"{other} = ({name} := {made.text}) * 2")
    w.keep(name, made, kind)
    w.keep(other, Made("", made.grad, made.past), kind)
    return True


@statement(1)
def matching(w: Writer) -> bool:
    if w.indent > 1 or not w.scope.numbers:
        return False
    w.write(f"match {w.rng.choice(w.scope.numbers)}:")
    w.indent += 1
    w.body("case 0 | 1:", 2, what="branch")
    w.body("case _:", 2, what="branch")
    w.indent -= 1
    return True


@statement(2)
def loop_until(w: Writer) -> bool:
    """``while True`` with a way out, and the ``else`` of a loop."""
    if w.indent > 1:
        return False
    index = w.fresh("i")
    w.write(f"{index} = 0")
    with w.block("while True:", "loop"):
        w.write(f"{index} += 1")
        w.statements(3)
        w.write(f"if {index} > {w.rng.randint(0, 2)}:")
        w.write("    break")
    return True


@statement(1)
def forgotten(w: Writer) -> bool:
    """``del``: the name goes, what others hold stays."""
    found = [v for v in w.scope.variables.values() if v.text[0] in "tvc" and v.text[1:].isdigit()]
    if w.indent or not found:
        return False
    chosen = w.rng.choice(found)
    kept = w.fresh("keep")
    w.write(f"{kept} = [{chosen.text}]")
    w.keep(f"{kept}[0]", of(chosen), chosen.type, chosen.many)
    w.write(f"del {chosen.text}")
    w.scope.variables.pop(chosen.text)
    return True
