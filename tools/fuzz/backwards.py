"""Statements that walk the graph: backward in all its forms, ``autograd.grad``, hooks, optimizers, training loops."""

from __future__ import annotations

from .expressions import SMALL, Made, of
from .scope import Variable
from .writer import Writer, statement

FLAGS = ("", "", "", "", "retain_graph=True", "retain_graph=True", "retain_graph=False", "create_graph=True")
FREES = ("", "retain_graph=False")
VECTORS = {"V": "4", "M": "4, 4", "H": "2, 4", "W": "2"}


def named(w: Writer, made: Made) -> Made:
    """The loss under a name, with statements between its making and its backward now and then."""
    w.let(name := w.fresh("loss"), made, "S")
    if w.rng.random() < 0.45:
        w.statements(2)
    return of(w.scope.variables.get(name) or Variable(name, "S", True))


def freed(w: Writer, root: Made, flag: str) -> None:
    if flag in FREES:
        w.scope.freed |= root.past


def after_backward(w: Writer) -> None:
    """What usually comes next."""
    rng = w.rng
    if w.scope.networks and rng.random() < 0.1:
        w.write(f"nn.utils.clip_grad_norm_({rng.choice(w.scope.networks)}.parameters(), 1.0)")
    if w.scope.optimizers and rng.random() < 0.5:
        name = rng.choice(w.scope.optimizers)
        w.write(f"{name}.step()")
        if rng.random() < 0.5:
            w.write(f"{name}.zero_grad({rng.choice(('', '', 'set_to_none=False'))})")


@statement(16)
def backward(w: Writer) -> bool:
    rng, root = w.rng, w.loss()
    if w.mode or root is None:
        return False
    flag = rng.choice(FLAGS)
    if rng.random() < 0.45:
        root = named(w, root)
        w.write(f"{root.text}.backward({flag})")
    else:
        w.write(f"({root.text}).backward({flag})")
    freed(w, root, flag)
    after_backward(w)
    return True


@statement(3)
def several_roots(w: Writer) -> bool:
    """One pass from two roots, or two passes over what they share."""
    rng, one, two = w.rng, w.loss(), w.loss()
    if w.mode or one is None or two is None:
        return False
    flag = rng.choice(FLAGS)
    if rng.random() < 0.5:
        one = named(w, one)
    if rng.random() < 0.6:
        rest = f", {flag}" if flag else ""
        w.write(f"torch.autograd.backward([{one.text}, {two.text}]{rest})")
    else:
        shared = Made(f"{one.text} * {two.text}", True, one.past | two.past)
        w.write(f"({shared.text}).backward(retain_graph=True)")
        w.write(f"({rng.choice((one, two)).text}).backward({flag})")
    freed(w, one, flag)
    freed(w, two, flag)
    return True


@statement(2)
def backward_from_many(w: Writer) -> bool:
    """A root that is no scalar takes the gradient that comes in."""
    found = [v for v in w.scope.trained(w.careful()) if v.type in VECTORS]
    if w.mode or not found:
        return False
    root = w.rng.choice(found)
    flag = w.rng.choice(FLAGS)
    rest = f", {flag}" if flag else ""
    gradient = w.rng.choice((f"torch.ones({VECTORS[root.type]})", f"gradient=torch.ones_like({root.text})"))
    w.write(f"{root.text}.backward({gradient}{rest})")
    freed(w, of(root), flag)
    return True


@statement(4)
def partial_backward(w: Writer) -> bool:
    """``inputs=``: only what leads there runs, and only that is freed."""
    leaves, root = w.scope.leaves(), w.loss()
    if w.mode or not leaves or root is None:
        return False
    rng = w.rng
    flag = rng.choice(FLAGS)
    rest = f", {flag}" if flag else ""
    inputs = f"[{rng.choice(leaves).text}]"
    if w.scope.networks and rng.random() < 0.4:
        inputs = f"list({rng.choice(w.scope.networks)}.parameters())"
    if rng.random() < 0.5:
        root = named(w, root)
    w.write(f"({root.text}).backward(inputs={inputs}{rest})")
    return True


@statement(5)
def gradient(w: Writer) -> bool:
    """``autograd.grad``, for leaves and for what is in the middle; the gradient may be used again."""
    rng, root = w.rng, w.loss()
    found = w.scope.leaves() if rng.random() < 0.85 else w.scope.trained(w.careful())
    if w.mode or root is None or not found:
        return False
    if rng.random() < 0.3:
        root = named(w, root)
        found = [v for v in found if v.text in w.scope.variables]
    wanted = rng.sample(found, min(len(found), rng.choice((1, 1, 2))))
    flag = rng.choice((*FLAGS, "create_graph=True", "create_graph=True"))
    names = [w.fresh("g") for _ in wanted]
    rest = f", {flag}" if flag else ""
    inputs = f"[{', '.join(v.text for v in wanted)}]"
    w.write(f"{', '.join(names)}, = torch.autograd.grad({root.text}, {inputs}{rest}, allow_unused=True)")
    if rng.random() < 0.6:
        for name, variable in zip(names, wanted):
            w.write(f"{name} = {variable.text} * 1 if {name} is None else {name}")
            w.keep(name, Made(name, "create" in flag, root.past), variable.type)
    return True


@statement(2)
def gradient_penalty(w: Writer) -> bool:
    """The gradient of a fresh result is part of the loss."""
    networks = [n for n in w.scope.networks if "M" in w.scope.modules.get(n, "")]
    if w.mode or not networks:
        return False
    net, name = w.rng.choice(networks), w.fresh("x")
    score, grad = w.fresh("score"), w.fresh("g")
    w.write(f"{name} = torch.rand(4, 4, requires_grad=True)")
    w.keep(name, Made("", True, frozenset(), True), "M")
    w.write(f"{score} = {net}({name}).sum()")
    create = w.rng.choice(("create_graph=True",) * 3 + ("retain_graph=True",))
    w.write(f"{grad} = torch.autograd.grad({score}, {name}, {create})[0]")
    if create.startswith("create"):
        w.write(f"(({grad}.norm() - 1) ** 2 + {w.rng.choice((score, '0', 'F.relu(' + score + ')'))}).backward()")
    w.keep(grad, Made(grad, False, frozenset()), "M")
    if w.rng.random() < 0.4:
        w.write(f"{score}.backward()")
    return True


@statement(4)
def hook(w: Writer) -> bool:
    """Hooks look at gradients or replace them; they are not part of the graph."""
    rng = w.rng
    found = w.scope.trained()
    if w.mode or not found:
        return False
    chosen = rng.choice(found)
    texts = [
        "{0}.register_hook(lambda g: g * 2)",
        "{0}.register_hook(lambda g: None)",
        "{0}.register_hook(lambda g: g.clamp(-1, 1))",
        "{0}.retain_grad()",
    ]
    if chosen.leaf:
        texts.append("{0}.register_post_accumulate_grad_hook(lambda p: None)")
    line = rng.choice(texts).format(chosen.text)
    if not chosen.leaf:
        w.write(f"if {chosen.text}.requires_grad:")
        line = f"    {line}"
    w.write(line)
    return True


@statement(4)
def step(w: Writer) -> bool:
    if not w.scope.optimizers:
        return False
    w.write(f"{w.rng.choice(w.scope.optimizers)}.{w.rng.choice(('step', 'step', 'zero_grad'))}()")
    return True


@statement(2)
def read_gradient(w: Writer) -> bool:
    """``.grad`` of a leaf: None before the first backward."""
    leaves = w.scope.leaves()
    if not leaves:
        return False
    leaf = w.rng.choice(leaves)
    text = w.rng.choice(("{0}.grad = None", "{0}.grad.zero_()", "{0}.data.sub_({0}.grad * 0.1)", "{0}.grad.mul_(2)"))
    if text != "{0}.grad = None":
        text = f"if {leaf.text}.grad is not None:\n{'    ' * (w.indent + 1)}{text}"
    w.write(text.format(leaf.text))
    return True


@statement(5)
def training_loop(w: Writer) -> bool:
    """Iterations with a loss, a backward and a step; something may be carried from one to the next."""
    rng = w.rng
    if w.mode or w.indent > 1 or not w.scope.networks:
        return False
    optimizer = rng.choice(w.scope.optimizers) if w.scope.optimizers else None
    carried = rng.choice(("", "", "total", "h", "h"))
    name = _carried(w, carried)
    with w.block(f"for {w.fresh('i')} in range({rng.randint(2, 4)}):", "loop"):
        if optimizer and rng.random() < 0.6:
            w.write(f"{optimizer}.zero_grad()")
        out = _forward(w, name if carried == "h" else None)
        if rng.random() < 0.4:
            w.statements(2)
        if out not in w.scope.variables:
            return True
        _loss_and_backward(w, out, name if carried == "total" else None)
        if optimizer and rng.random() < 0.7:
            w.write(f"{optimizer}.step()")
    if carried == "total" and rng.random() < 0.2:
        w.write(f"{name}.backward()")
    return True


def _loss_and_backward(w: Writer, out: str, total: str | None) -> None:
    """A loss of ``out``, added to ``total`` if there is one, and a backward from one of them."""
    rng = w.rng
    loss = w.fresh("loss")
    w.let(loss, Made(rng.choice(SMALL).format(out), True, w.scope.variables[out].past), "S")
    if total is not None:
        w.write(f"{total} = {total} + {loss}{rng.choice(('', '', '.item()', '.detach()', ' * 0.5'))}")
    flag = rng.choice(("", "", "", "", "retain_graph=True"))
    root = total if total is not None and rng.random() < 0.3 else loss
    w.write(f"{root}.backward({flag})")
    freed(w, of(w.scope.variables[loss]), flag)


def _carried(w: Writer, kind: str) -> str:
    """What goes from one iteration to the next: a sum of losses, a hidden state or nothing; its name."""
    name = w.fresh(kind or "i")
    if kind == "total":
        w.let(name, Made(w.rng.choice(("0", "torch.zeros(())", "0.0")), False, frozenset()), "S")
        w.scope.variables.pop(name)
    elif kind:
        w.let(name, Made("torch.zeros(4, 4)", False, frozenset()), "M")
    return name


def _forward(w: Writer, hidden: str | None) -> str:
    """Call a network, with the state ``hidden`` if there is one; the name of its output."""
    rng = w.rng
    net = rng.choice(w.scope.networks)
    kind = rng.choice(w.scope.modules[net])
    x = w.expr(kind, 1)
    is_recurrent = hidden is not None and kind == "M"
    if is_recurrent:
        x = Made(rng.choice(("{0} + {1}", "{0} * 0.5 + {1}", "{0}.tanh() * {1}")).format(hidden, x.text), True, x.past)
    out = w.fresh("out")
    w.let(out, Made(f"{net}({x.text})", True, x.past), kind)
    if is_recurrent:
        w.write(f"{hidden} = {out}{rng.choice(('', '', '.detach()', '.tanh()', '.data', ' * 0.9'))}")
    return out


@statement(2)
def two_players(w: Writer) -> bool:
    """Two losses share a graph, and an optimizer steps between their backwards."""
    rng = w.rng
    matrices = [n for n in w.scope.networks if "M" in w.scope.modules.get(n, "")]
    if w.mode or len(matrices) < 2 or not w.scope.optimizers:
        return False
    one, two = rng.sample(matrices, 2)
    out, first, second = w.fresh("fake"), w.fresh("loss"), w.fresh("loss")
    w.write(f"{out} = {one}({w.expr('M', 1).text})")
    w.keep(out, Made(out, True, frozenset()), "M")
    w.write(f"{first} = {two}({out}{rng.choice(('', '', '.detach()'))}).mean()")
    if rng.random() < 0.6:
        w.write(f"{second} = {rng.choice(('-', '2 * '))}{two}({out}).mean()")
    lines = [f"{first}.backward({rng.choice(('', 'retain_graph=True', 'retain_graph=True'))})"]
    if rng.random() < 0.7:
        lines.append(f"{rng.choice(w.scope.optimizers)}.step()")
    if second not in w.lines[-1]:
        lines.append(f"{second} = {two}({out}).sum()")
    lines.append(f"{second}.backward()")
    for line in lines:
        w.write(line)
    return True


@statement(1)
def closure_step(w: Writer) -> bool:
    """LBFGS calls its closure as often as it likes."""
    networks = [n for n in w.scope.networks if "M" in w.scope.modules.get(n, "")]
    if w.mode or w.indent or not networks:
        return False
    net, opt, closure = w.rng.choice(networks), w.fresh("lbfgs"), w.fresh("closure")
    w.write(f"{opt} = torch.optim.LBFGS({net}.parameters(), max_iter=3)")
    outside = w.rng.random() < 0.4
    made = f"F.mse_loss({net}({w.expr('M', 0).text}), {w.expr('M', 0).text})"
    if outside:
        w.write(f"{(outer := w.fresh('loss'))} = {made}")
    w.write(f"def {closure}():")
    w.write(f"    {opt}.zero_grad()")
    w.write(f"    loss = {outer if outside else made}")
    w.write("    loss.backward()")
    w.write("    return loss")
    w.write(f"{opt}.step({closure})")
    return True
