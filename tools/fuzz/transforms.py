"""Statements with ``torch.func``: networks called with other weights, gradients of functions, functions over rows."""

from __future__ import annotations

from .expressions import Made
from .functions import defined
from .scope import Callee
from .surroundings import matrix_networks
from .writer import Writer, statement

WEIGHTS = (
    "dict({0}.named_parameters())",
    "dict({0}.named_parameters())",
    "{{k: v * 2 for k, v in {0}.named_parameters()}}",
    "{{k: v ** 2 for k, v in {0}.named_parameters()}}",
    "{{k: v.clone() for k, v in {0}.named_parameters()}}",
    "{{k: v.detach() for k, v in {0}.named_parameters()}}",
    "{{**dict({0}.named_parameters()), **dict({0}.named_buffers())}}",
    "(dict({0}.named_parameters()), dict({0}.named_buffers()))",
)
NUMBERS = (
    "(a ** 2).sum()",
    "(a ** 3).sum()",
    "a.exp().sum()",
    "(a * a.sin()).mean()",
    "(a * {0}).sum()",
    "a.sum() * 2",
)
"""Functions of a tensor that give one number; the second tensor is one from around."""
SAME = ("a * 2", "a.exp()", "a + {0}", "a * {0}", "a.sigmoid() ** 2", "a.clone().mul_(2)", "a.tanh().add_(1)")
"""Functions that give a tensor like the one they are given."""

ROWS = ("a.mul_(2)", "a[0] * 2", "a.exp().sum()", "torch.func.grad(lambda b: (b ** 3).sum())(a)", "a")
"""Functions of a row, besides."""


@statement(1)
def functional_call(w: Writer) -> bool:
    """A network called with other weights, perhaps more than once with the same."""
    rng, networks = w.rng, matrix_networks(w)
    if not networks:
        return False
    net, given = rng.choice(networks), w.expr("M", 1)
    weights = rng.choice(WEIGHTS).format(net)
    if not w.indent and rng.random() < 0.4:
        w.write(f"{(name := w.fresh('w'))} = {weights}")
        look = w.fresh("f")
        w.write(f"{look} = lambda a: torch.func.functional_call({net}, {name}, (a,))")
        w.scope.functions.append(Callee(look, ("M",), "M"))
        weights = name
    w.let(w.fresh("t"), Made(f"torch.func.functional_call({net}, {weights}, ({given.text},))", True, given.past), "M")
    return True


def gradient_of_weights(w: Writer) -> bool:
    """The gradient of a loss by the weights that a network is called with."""
    rng, networks = w.rng, matrix_networks(w)
    if not networks:
        return False
    net, given = rng.choice(networks), w.expr("M", 1)
    loss = rng.choice((".pow(2).mean()", ".sum()", ".exp().mean()"))
    look, made = w.fresh("f"), w.fresh("g")
    w.write(f"{look} = lambda p, a: torch.func.functional_call({net}, p, (a,)){loss}")
    w.write(f"{made} = torch.func.grad({look})({rng.choice(WEIGHTS[:-1]).format(net)}, {given.text})")
    w.let(w.fresh("t"), Made(f"sum(v.sum() for v in {made}.values())", True, given.past), "S")
    return True


def function_of(w: Writer, forms: tuple[str, ...], gives: str, takes: str = "V") -> str:
    """A function of one tensor: a lambda, or one with lines of its own."""
    if w.indent or w.mode or w.rng.random() < 0.7:
        return f"lambda a: {w.rng.choice(forms).format(w.expr(takes, 0).text)}"
    name = w.fresh("f")
    defined(w, f"def {name}(a):", ["a"], (takes,), gives)
    return name


def gradient_of_function(w: Writer) -> bool:
    """Gradients by reverse mode, some with the value, or left for later."""
    rng, takes = w.rng, w.rng.choice("VVM")
    given, how = w.expr(takes, 1), rng.choice(("grad", "grad", "grad_and_value", "vjp", "jacrev", "nested"))
    if how == "vjp":
        run = function_of(w, SAME, takes, takes)
        value, pull = w.fresh("t"), w.fresh("pull")
        w.write(f"{value}, {pull} = torch.func.vjp({run}, {given.text})")
        w.keep(value, given.then(""), takes)
        begin = w.expr(takes, 0)
        w.let(w.fresh("t"), Made(f"{pull}({begin.text})[0]", given.grad, given.past | begin.past), takes)
        return True
    if how == "jacrev":
        run = function_of(w, SAME, takes, takes)
        w.let(w.fresh("t"), given.then(f"torch.func.jacrev({run})({given.text}).sum()"), "S")
        return True
    run = function_of(w, NUMBERS, "S", takes)
    if how == "grad_and_value":
        made, value = w.fresh("t"), w.fresh("t")
        w.write(f"{made}, {value} = torch.func.grad_and_value({run})({given.text})")
        w.keep(made, given.then(""), takes)
        w.keep(value, given.then(""), "S")
        return True
    text = f"torch.func.grad({run})({given.text})"
    if how == "nested":
        text = f"torch.func.grad(lambda b: torch.func.grad({run})(b).sum())({given.text})"
    w.let(w.fresh("t"), given.then(text), takes)
    return True


def forward_mode(w: Writer) -> bool:
    """The value of a function whose derivative is computed along with it."""
    given = w.expr("V", 1)
    run, value, moved = function_of(w, SAME, "V"), w.fresh("t"), w.fresh("d")
    w.write(f"{value}, {moved} = torch.func.jvp({run}, ({given.text},), (torch.ones(4),))")
    w.keep(value, given.then(""), "V")
    return True


def over_rows(w: Writer) -> bool:
    """A function of a row over all rows."""
    rng, given = w.rng, w.expr("M", 1)
    form = rng.choice((*SAME, *ROWS))
    text = f"torch.vmap(lambda a: {form.format(w.expr('V', 0).text)})({given.text})"
    w.let(w.fresh("t"), given.then(text), "V" if form in ROWS[1:3] else "M")
    return True


@statement(1)
def transform(w: Writer) -> bool:
    kinds = (gradient_of_weights, gradient_of_function, gradient_of_function, forward_mode, over_rows)
    return w.rng.choice(kinds)(w)
