"""Statements about single tensors: assigned, carried, written in place, seen through views, cut from their graphs."""

from __future__ import annotations

from .expressions import PARTS, Made, of
from .writer import Writer, statement

CUTS = (
    "detach()",
    "detach()",
    "clone()",
    "detach().clone()",
    "data",
    "data.clone()",
    "detach().requires_grad_()",
    "detach().clone().requires_grad_()",
)


@statement(20)
def assign(w: Writer) -> bool:
    kind = w.kind()
    made = w.expr(kind)
    w.let(w.fresh("t"), made, kind)
    return True


@statement(10)
def carry(w: Writer) -> bool:
    """Assign a variable again, in terms of itself more often than not."""
    old = w.target()
    if old is None or w.mode == "inference":
        return False
    made = w.expr(old.type)
    if w.rng.random() < 0.6:
        text = f"{old.text} {w.rng.choice('+*')} {made.text}"
        made = Made(text, made.grad or old.grad, made.past | old.past)
    w.let(old.text, made, old.type)
    return True


@statement(16)
def write_in_place(w: Writer) -> bool:
    old = w.target(written=True)
    if old is None:
        return False
    w.in_place(old.text)
    return True


@statement(6)
def view(w: Writer) -> bool:
    """A name for a part of a variable, to be written later."""
    kind = w.kind()
    whole_kind, text = w.rng.choice(PARTS[kind])
    whole = w.scope.pick(w.rng, whole_kind, w.careful())
    if whole is None:
        return False
    w.let(w.fresh("v"), of(whole).then(text.format(whole.text), whole.leaf), kind)
    return True


@statement(3)
def parts(w: Writer) -> bool:
    """Several views at once."""
    whole = w.scope.pick(w.rng, "M", w.careful())
    if whole is None:
        return False
    names = [w.fresh("p") for _ in range(2)]
    text, kind = w.rng.choice(
        (("{}.chunk(2)", "H"), ("{}.split(2)", "H"), ("{}.tensor_split(2)", "H"), ("{}.unbind()", "V"), ("{}", "V"))
    )
    rest = ", _, _" if kind == "V" else ""
    w.write(f"{', '.join(names)}{rest} = {text.format(whole.text)}")
    for name in names:
        w.keep(name, of(whole).then(name, whole.leaf), kind, many="tensor_split" not in text)
    return True


@statement(6)
def cut(w: Writer) -> bool:
    """detach, clone, .data and flags."""
    rng = w.rng
    kind = w.kind()
    old = w.scope.pick(rng, kind, w.careful())
    if old is None:
        return False
    how = rng.choice(CUTS)
    name = w.fresh("c")
    if how == "clone()":
        made = of(old).then(f"{old.text}.clone()")
    else:
        fresh = how.endswith("requires_grad_()")
        made = Made(f"{old.text}.{how}", fresh, frozenset(), fresh)
    w.let(name, made, kind)
    if rng.random() < 0.15 and not old.leaf:
        w.write(f"{old.text}.detach_()")
        w.keep(old.text, Made("", False, frozenset()), kind, old.many)
    return True


@statement(4)
def write_past_autograd(w: Writer) -> bool:
    """A write that autograd does not record: of ``.data``, of a detached alias, by ``nn.init``."""
    old = w.rng.choice([*w.scope.leaves()[-3:], *list(w.scope.variables.values())[-4:]] or [None])
    if old is None:
        return False
    value = w.expr(old.type, 1)
    n = w.rng.choice(("0.5", "2", "-1"))
    texts = [
        f"{old.text}.data.mul_({n})",
        f"{old.text}.data += {n}",
        f"{old.text}.data.copy_({value.text}.data)",
        f"{old.text}.detach().add_({n})",
        f"{old.text}.detach().zero_()",
        f"nn.init.uniform_({old.text})",
        f"nn.init.constant_({old.text}, {n})",
    ]
    if old.leaf:
        texts.append(f"{old.text}.data = {value.text}.data")
    w.write(w.rng.choice(texts))
    return True


@statement(2)
def conditional_expression(w: Writer) -> bool:
    if not w.scope.numbers:
        return False
    kind = w.kind()
    one, other = w.expr(kind, 1), w.expr(kind, 1)
    test = f"{w.rng.choice(w.scope.numbers)} > {w.rng.randint(0, 2)}"
    made = Made(f"{one.text} if {test} else {other.text}", one.grad or other.grad, one.past | other.past)
    w.let(w.fresh("t"), made, kind)
    return True
