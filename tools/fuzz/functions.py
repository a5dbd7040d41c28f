"""Statements that define something to call: functions, closures, methods, generators, autograd Functions.

What is defined is called by later expressions.
"""

from __future__ import annotations

from .expressions import NUMBERS, Made, called
from .scope import Callee
from .writer import Writer, statement


def parameters(w: Writer, most: int = 2) -> tuple[list[str], tuple[str, ...]]:
    takes = tuple(w.rng.choice("VM") for _ in range(w.rng.randint(1, most)))
    return ["a", "b"][: len(takes)], takes


def inner_lines(w: Writer) -> None:
    """A local, which may be written in place."""
    if w.rng.random() < 0.6:
        kind = w.rng.choice("VM")
        made = w.expr(kind)
        w.let("c", Made(made.text, True, made.past, made.leaf or made.text in "ab"), kind)
        if w.rng.random() < 0.4:
            w.in_place("c")


def defined(w: Writer, header: str, names: list[str], takes: tuple[str, ...], gives: str) -> None:
    """A function with random lines; its body sees what is defined outside."""
    with w.block(header, "function"):
        for name, kind in zip(names, takes):
            w.keep(name, Made("", True, frozenset()), kind)
        inner_lines(w)
        w.write(f"return {w.expr(gives).text}")
        for name in (*names, "c"):
            w.scope.variables.pop(name, None)


@statement(3)
def function(w: Writer) -> bool:
    """A function of one or two tensors."""
    if w.indent or w.mode:
        return False
    rng, name = w.rng, w.fresh("f")
    names, takes = parameters(w)
    gives = rng.choice("VMS")
    if rng.random() < 0.15:
        w.write(f"@torch.{rng.choice(('no_grad', 'no_grad', 'inference_mode', 'enable_grad'))}()")
    defaults = rng.random() < 0.2
    given = [*names[:-1], f"{names[-1]}=None"] if defaults else names
    if defaults:
        with w.block(f"def {name}({', '.join(given)}):", "function"):
            kind = takes[-1]
            for parameter, type_ in zip(names, takes):
                w.keep(parameter, Made("", True, frozenset()), type_)
            ones = "torch.ones(4)" if kind == "V" else "torch.ones(4, 4)"
            w.write(f"{names[-1]} = {ones} if {names[-1]} is None else {names[-1]}")
            w.write(f"return {w.expr(gives).text}")
        takes = takes[: rng.randint(len(takes) - 1, len(takes))]
    else:
        defined(w, f"def {name}({', '.join(names)}):", names, takes, gives)
    w.scope.functions.append(Callee(name, takes, gives))
    return True


@statement(2)
def small_function(w: Writer) -> bool:
    """A lambda."""
    if w.indent or w.mode:
        return False
    name, kind = w.fresh("f"), w.rng.choice("VM")
    text = w.rng.choice(("a * 2", "a.exp()", "(a * a).mean()", "a.tanh() * a", "a.sum()", "F.relu(a)"))
    gives = "S" if text.endswith(("mean()", "sum()")) else kind
    w.write(f"{name} = lambda a: {text}")
    w.scope.functions.append(Callee(name, (kind,), gives))
    return True


@statement(2)
def closure(w: Writer) -> bool:
    """A function that keeps a tensor of the one that made it, and perhaps changes it."""
    if w.indent or w.mode:
        return False
    rng, outer, name = w.rng, w.fresh("make"), w.fresh("f")
    kind = rng.choice("VM")
    kept = w.expr(kind)
    changes = rng.random() < 0.5
    new = rng.choice(("state * a", "state + a", "(state + a).tanh()", "state.detach() * a", "a.exp()"))
    w.write(f"def {outer}(state):")
    w.write("    def inner(a):")
    if changes:
        w.write("        nonlocal state")
        w.write(f"        state = {new}")
        w.write(f"        return {rng.choice(('state', 'state * 2', 'state.clone()'))}")
    else:
        w.write(f"        return {new}")
    w.write("    return inner")
    w.write(f"{name} = {outer}({kept.text})")
    w.scope.functions.append(Callee(name, (kind,), kind))
    return True


@statement(2)
def agent(w: Writer) -> bool:
    """An object with a method that carries a state from call to call."""
    if w.indent or w.mode:
        return False
    rng, kind = w.rng, w.rng.choice("VM")
    cls, name = w.fresh("Agent"), w.fresh("agent")
    shape = "4" if kind == "V" else "4, 4"
    gives = rng.choice((kind, "S"))
    begins = rng.choice((f"torch.zeros({shape})", w.expr(kind, 0).text))
    new = rng.choice(
        (
            "(self.h + x).tanh()",
            "self.h * x",
            "self.h + x",
            "self.h.detach() + x",
            "x.sigmoid()",
            "self.h * 0.9 + x.data",
        )
    )
    w.write(f"class {cls}:")
    w.write("    def __init__(self):")
    w.write(f"        self.h = {begins}")
    w.write("        self.seen = []")
    w.write("    def act(self, x):")
    w.write(f"        self.h = {new}")
    if rng.random() < 0.3:
        w.write(f"        self.seen.append({rng.choice(('self.h', 'x', 'self.h.detach()'))})")
    if rng.random() < 0.25:
        w.write(f"        self.h.{rng.choice(('add_(1)', 'mul_(2)', 'zero_()', 'relu_()'))}")
    number = rng.choice(("self.h.sum()", "(self.h * x).mean()", "self.h.norm()"))
    w.write(f"        return {'self.h' if gives == kind else number}")
    if rng.random() < 0.3:
        w.write("    def reset(self):")
        w.write(f"        self.h = {rng.choice(('self.h.detach()', f'torch.zeros({shape})'))}")
    w.write(f"{name} = {cls}()")
    w.scope.functions.append(Callee(f"{name}.act", (kind,), gives))
    w.keep(f"{name}.h", Made("", True, frozenset()), kind)
    return True


@statement(2)
def training_function(w: Writer) -> bool:
    """A function that takes a step: the error, if there is one, is inside."""
    networks = [n for n in w.scope.networks if "M" in w.scope.modules.get(n, "")]
    if w.indent or w.mode or not networks:
        return False
    rng, name, net = w.rng, w.fresh("train"), w.rng.choice(networks)
    with w.block(f"def {name}(x, y):", "function"):
        for parameter in "xy":
            w.keep(parameter, Made("", False, frozenset()), "M")
        if w.scope.optimizers and rng.random() < 0.7:
            w.write(f"{(opt := rng.choice(w.scope.optimizers))}.zero_grad()")
        else:
            opt = ""
        w.write(f"loss = F.mse_loss({net}(x), {rng.choice(('y', 'y', 'y * x', w.expr('M', 1).text))})")
        w.write(f"loss.backward({rng.choice(('', '', '', 'retain_graph=True'))})")
        if opt and rng.random() < 0.8:
            w.write(f"{opt}.step()")
        w.write(f"return {rng.choice(('loss', 'loss.item()', 'loss.detach()', 'y * 2'))}")
        w.scope.variables.pop("x", None)
        w.scope.variables.pop("y", None)
    for _ in range(rng.randint(1, 3)):
        first = w.expr("M", 1)
        w.write(f"{w.fresh('r')} = {name}({first.text}, {w.expr('M', 1).text})")
    return True


@statement(2)
def generator(w: Writer) -> bool:
    """A generator function and a loop over it."""
    if w.indent or w.mode:
        return False
    rng, name, kind = w.rng, w.fresh("gen"), w.rng.choice("VM")
    change = rng.choice(("a = a.tanh()", "a = a * 2", "a = a + 1", "a = a.detach()", "a = a.exp()"))
    w.write(f"def {name}(a):")
    if rng.random() < 0.6:
        w.write(f"    for k in range({rng.randint(1, 3)}):")
        w.write(f"        {change}")
        w.write("        yield a")
    else:
        w.write("    yield a")
        w.write(f"    {change}")
        w.write("    yield a * 2")
    given = w.expr(kind)
    if rng.random() < 0.3:
        total = w.fresh("s")
        w.let(total, Made(f"sum({name}({given.text}))", given.grad, given.past), kind)
        return True
    item = w.fresh("e")
    with w.block(f"for {item} in {name}({given.text}):", "loop"):
        w.keep(item, given, kind)
        w.statements(3)
    return True


MASKED = "ctx.mark_non_differentiable(m); ctx.save_for_backward(m)"
NEEDED = "grad * (x > 0) if ctx.needs_input_grad[0] else None"


@statement(3)
def autograd_function(w: Writer) -> bool:
    """A user-written ``autograd.Function``, called by ``apply``."""
    if w.indent or w.mode:
        return False
    rng, name, kind = w.rng, w.fresh("Fn"), w.rng.choice("VM")
    two = rng.random() < 0.3
    template = rng.choice(
        (
            ("ctx.save_for_backward(x)", "x * x", "x, = ctx.saved_tensors", "grad * 2 * x"),
            ("", "x * 3", "", "grad * 3"),
            ("ctx.factor = 2", "x * 2", "", "grad * ctx.factor"),
            ("y = x.exp(); ctx.save_for_backward(y)", "y", "y, = ctx.saved_tensors", "grad * y"),
            ("ctx.mark_dirty(x)", "x.mul_(2)", "", "grad * 2"),
            ("ctx.save_for_backward(x)", "x.clamp(min=0)", "x, = ctx.saved_tensors", NEEDED),
            ("ctx.set_materialize_grads(False)", "x * 3", "", "None if grad is None else grad * 3"),
            (f"m = x > 0.5; {MASKED}", "(x * m, m)[0]", "m, = ctx.saved_tensors", "grad * m"),
        )
    )
    if two:
        template = ("ctx.save_for_backward(x, w)", "x * w", "x, w = ctx.saved_tensors", "grad * w, grad * x")
    before, result, unpack, grads = template
    w.write(f"class {name}(torch.autograd.Function):")
    w.write("    @staticmethod")
    w.write(f"    def forward(ctx, x{', w' if two else ''}):")
    for line in filter(None, before.split("; ")):
        w.write(f"        {line}")
    w.write(f"        return {result}")
    w.write("    @staticmethod")
    if rng.random() < 0.2:
        w.write("    @torch.autograd.function.once_differentiable")
    w.write("    def backward(ctx, grad):")
    if unpack:
        w.write(f"        {unpack}")
    w.write(f"        return {grads}")
    w.scope.functions.append(Callee(f"{name}.apply", (kind, kind) if two else (kind,), kind))
    return True


@statement(4)
def call(w: Writer) -> bool:
    """Call one of the program's own functions, the last ones more often."""
    found = w.scope.functions[-3:]
    if not found:
        return False
    chosen = w.rng.choice(found)
    made = called(chosen, lambda kind: w.expr(kind, 1))
    w.let(w.fresh("r"), made, chosen.gives)
    return True


@statement(2)
def checkpointed(w: Writer) -> bool:
    """A call that is made again in backward."""
    rng = w.rng
    networks = [(m, kinds) for m, kinds in w.scope.modules.items()]
    callees = [(f.text, f.takes[0]) for f in w.scope.functions if len(f.takes) == 1 and f.gives == f.takes[0]]
    found = [*networks, *(c for c in callees if c[0].startswith("f"))]
    if not found or w.mode:
        return False
    text, kinds = rng.choice(found)
    kind = rng.choice(kinds)
    given = w.expr(kind, 1)
    reentrant = rng.random() < 0.25
    made = Made(f"checkpoint({text}, {given.text}, use_reentrant={reentrant})", True, given.past)
    w.let(w.fresh("k"), made, kind)
    return True


@statement(1)
def global_state(w: Writer) -> bool:
    """A function that writes a variable of the module."""
    found = [v for v in w.scope.variables.values() if v.text.isidentifier() and v.type in "VM" and not v.leaf]
    if w.indent or w.mode or not found:
        return False
    old, name = w.rng.choice(found), w.fresh("f")
    w.write(f"def {name}(a):")
    w.write(f"    global {old.text}")
    how = w.rng.choice(("{0} = {0} * a", "{0} = a.tanh()", "{0} += a", f"{{0}} *= {w.rng.choice(NUMBERS)}"))
    w.write(f"    {how.format(old.text)}")
    w.write(f"    return {old.text}.sum()")
    w.scope.functions.append(Callee(name, (old.type,), "S"))
    return True
