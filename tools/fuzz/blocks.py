"""Statements with a body: loops, branches, grad modes, ``try``."""

from __future__ import annotations

from .expressions import Made, of
from .writer import Writer, statement

DEPTH = 2
"""How deep blocks go."""


@statement(6)
def loop(w: Writer) -> bool:
    if w.indent > DEPTH:
        return False
    rng = w.rng
    index = w.fresh("i")
    roll = rng.random()
    if roll < 0.15:
        w.write(f"{index} = 0")
        with w.block(f"while {index} < {rng.randint(1, 3)}:", "loop"):
            w.statements()
            w.write(f"{index} += 1")
        return True
    header = f"for {index} in range({rng.randint(1, 4)}):"
    if roll < 0.3:
        header = f"for {index}, _ in enumerate('{'abc'[: rng.randint(1, 3)]}'):"
    with w.block(header, "loop") as inner:
        inner.counters.append(index)
        w.statements()
        if rng.random() < 0.12:
            w.write(f"if {index} == {rng.randint(0, 2)}:")
            w.write(f"    {rng.choice(('break', 'continue'))}")
            w.statements(2)
    return True


@statement(3)
def loop_over_tensors(w: Writer) -> bool:
    """Rows of a matrix, or two tensors in a tuple."""
    if w.indent > DEPTH:
        return False
    rng, name = w.rng, w.fresh("e")
    if rng.random() < 0.5:
        matrix = w.scope.pick(rng, "M", w.careful())
        if matrix is None:
            return False
        header = f"for {name} in {matrix.text}:"
        item, kind, many = of(matrix), "V", True
    else:
        kind = w.kind()
        one, two = w.expr(kind, 1), w.expr(kind, 1)
        header = f"for {name} in ({one.text}, {two.text}):"
        item, many = Made(name, one.grad or two.grad, one.past | two.past, one.leaf or two.leaf), False
    with w.block(header, "loop"):
        w.keep(name, item, kind, many)
        w.statements()
    return True


@statement(4)
def carried_loop(w: Writer) -> bool:
    """A state that begins as None or plain data, and goes from one iteration to the next."""
    if w.indent > 1:
        return False
    rng, name = w.rng, w.fresh("h")
    kind = rng.choice("VM")
    absent = rng.random() < 0.3
    w.write(f"{name} = {'None' if absent else 'torch.zeros(4)' if kind == 'V' else 'torch.zeros(4, 4)'}")
    if not absent:
        w.keep(name, Made("", False, frozenset()), kind)
    with w.block(f"for {w.fresh('i')} in range({rng.randint(2, 4)}):", "loop"):
        new = w.expr(kind, 1)
        if absent:
            w.write(f"{name} = {new.text} if {name} is None else {name} * {new.text}")
        else:
            form = rng.choice(("({0} + {1}).tanh()", "{0} * {1}", "{0} + {1}", "{1} - {0} * 0.5"))
            w.write(f"{name} = {form.format(name, new.text)}")
        w.keep(name, Made("", True, new.past), kind)
        w.statements(3)
    return True


@statement(5)
def branch(w: Writer) -> bool:
    """On what is known while reading: counters, numbers, constants."""
    if w.indent > DEPTH:
        return False
    rng, scope = w.rng, w.scope
    tests = [f"{c} > 0" for c in scope.counters if c.startswith("i")]
    tests += [f"{c} % 2 == 0" for c in scope.counters]
    tests += [f"{n} > {rng.randint(0, 2)}" for n in scope.numbers]
    tests += [f"{t.text}.requires_grad" for t in [*scope.variables.values()][-1:]]
    tests += [f"{n}.training" for n in scope.networks[:1]] + ["True", "not False", "1 < 0"]
    w.body(f"if {rng.choice(tests)}:", what="branch")
    if rng.random() < 0.4:
        w.body("else:", what="branch")
    return True


@statement(2)
def unknown_branch(w: Writer) -> bool:
    """On numbers that nobody knows before the program runs: both sides happen."""
    if w.indent > 1:
        return False
    rng = w.rng
    tests = ["random.random() > 0.5", "torch.rand(()).item() > 0.5", *w.scope.flags, *w.scope.flags]
    tests += [f"{v.text}.item() > 0.5" for v in w.scope.variables.values() if v.type == "S"][-1:]
    w.body(f"if {rng.choice(tests)}:", 3, what="unknown")
    if rng.random() < 0.4:
        w.body("else:", 3, what="unknown")
    return True


@statement(2)
def flag(w: Writer) -> bool:
    """A truth that is asked for more than once."""
    w.write(f"{(name := w.fresh('flag'))} = {w.rng.choice(('random.random() > 0.5', 'torch.rand(()).item() > 0.5'))}")
    w.scope.flags.append(name)
    if w.indent < 2:
        w.body(f"if {name}:", 2, what="unknown")
    return True


@statement(5)
def grad_mode(w: Writer) -> bool:
    if w.indent > 1 or w.mode == "inference":
        return False
    if w.mode:
        w.body("with torch.enable_grad():", 2, mode=w.mode)
        return True
    header = w.rng.choice(
        ("with torch.no_grad():",) * 5 + ("with torch.set_grad_enabled(False):", "with torch.inference_mode():")
    )
    w.body(header, 3, mode="inference" if "inference" in header else "no_grad")
    return True


@statement(3)
def attempt(w: Writer) -> bool:
    """What the body raises is caught; what it did before that stays done."""
    if w.indent > 1:
        return False
    daring, w.daring = w.daring, 0.5
    w.body("try:", 3, what="try")
    w.daring = daring
    w.write(w.rng.choice(("except RuntimeError:", "except RuntimeError as error:", "except Exception:")))
    with w.block(w.lines.pop().strip(), "except"):
        if w.rng.random() < 0.4:
            w.statements(2)
    if w.rng.random() < 0.15:
        w.body("finally:", 2)
    return True
