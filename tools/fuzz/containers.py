"""Statements about what holds tensors: lists, dicts, tuples, attributes."""

from __future__ import annotations

from collections.abc import Sequence

from .expressions import Made, of
from .scope import Scope, Variable
from .writer import Writer, statement


def held(scope: Scope, text: str, made: Made) -> Made:
    """The item with everything that was in the container before it."""
    before = scope.variables.get(text)
    return Made(text, made.grad or bool(before and before.grad), made.past | (before.past if before else frozenset()))


@statement(7)
def list_of_tensors(w: Writer) -> bool:
    """Lists: append, read back, add up, change, clear."""
    rng, lists = w.rng, w.scope.lists
    if not lists or rng.random() < 0.25 and not w.indent:
        kind, name = rng.choice("SSVM"), w.fresh("items")
        made = w.expr(kind)
        w.write(f"{name} = [{made.text}]")
        lists[name] = kind
        w.keep(f"{name}[-1]", made, kind)
        return True
    name = rng.choice(sorted(lists))
    kind, last = lists[name], f"{name}[-1]"
    known = of(w.scope.variables[last]) if last in w.scope.variables else Made("", True, frozenset())
    roll = rng.random()
    if roll < 0.45:
        made = w.expr(kind)
        line = rng.choice(("{0}.append({1})",) * 3 + ("{0} += [{1}]", "{0}.insert(0, {1})", "{0}.extend([{1}])"))
        w.write(line.format(name, made.text))
        w.keep(last, held(w.scope, last, made), kind)
    elif roll < 0.55:
        made = w.expr(kind)
        w.write(f"{name}[{rng.choice(('0', '-1'))}] = {made.text}")
        w.keep(last, held(w.scope, last, made), kind)
    elif roll < 0.62:
        made = w.expr(kind)
        w.write(f"{name} = [{made.text}]" if rng.random() < 0.5 else f"{name} = [e.detach() for e in {name}]")
        w.keep(last, made, kind)
    else:
        texts = (
            "sum({0})",
            "torch.stack({0}).sum(0)",
            "torch.stack({0}).mean(dim=0)",
            "sum(e * 2 for e in {0})",
            "sum([e.exp() for e in {0}])",
            "{0}[0]",
            "{0}[0] * {0}[-1]",
        )
        total = known.then(rng.choice(texts).format(name))
        w.let(w.fresh("s"), total, kind)
    return True


def _new_dict(w: Writer) -> None:
    """A dict of two tensors of one type."""
    kind, name = w.rng.choice("SVM"), w.fresh("d")
    one, two = w.expr(kind), w.expr(kind)
    text = w.rng.choice(("{0} = {{'a': {1}, 'b': {2}}}", "{0} = dict(a={1}, b={2})"))
    w.write(text.format(name, one.text, two.text))
    w.scope.dicts[name] = kind
    w.keep(f"{name}['a']", one, kind)
    w.keep(f"{name}['b']", two, kind)


@statement(4)
def dict_of_tensors(w: Writer) -> bool:
    """Dicts: made, assigned, added to, added up."""
    rng, dicts = w.rng, w.scope.dicts
    if not dicts or rng.random() < 0.2 and not w.indent:
        _new_dict(w)
        return True
    name = rng.choice(sorted(dicts))
    kind = dicts[name]
    items = [v for text in (f"{name}['a']", f"{name}['b']") if (v := w.scope.variables.get(text))]
    past = frozenset().union(*(v.past for v in items)) if items else frozenset()
    roll = rng.random()
    if roll < 0.35 and items:
        _assign_item(w, items, kind)
    elif roll < 0.5:
        total = w.fresh("s")
        w.write(f"{total} = 0")
        with w.block(f"for k, v in {name}.items():", "loop"):
            w.write(f"{total} = {total} + {rng.choice(('v', 'v * 2', 'v.sigmoid()'))}")
        w.keep(total, Made("", any(v.grad for v in items), past), kind)
    else:
        text = rng.choice(
            ("sum({0}.values())", "{0}['a'] * {0}['b']", "{0}.get('a')", "sum(v * v for v in {0}.values())")
        )
        w.let(w.fresh("s"), Made(text.format(name), any(v.grad for v in items), past), kind)
    return True


def _assign_item(w: Writer, items: Sequence[Variable], kind: str) -> None:
    """Assign to an item of a dict, or add to it."""
    made = w.expr(kind)
    item = w.rng.choice(items)
    add = w.rng.random() < 0.5
    w.write(f"{item.text} = {item.text + ' + ' if add else ''}{made.text}")
    past = made.past | (item.past if add else frozenset())
    w.keep(item.text, Made("", made.grad or add and item.grad, past), kind)


@statement(3)
def tuple_of_tensors(w: Writer) -> bool:
    """Packed and unpacked; two names exchanged."""
    rng = w.rng
    kind = w.kind()
    if rng.random() < 0.3:
        known = [v for v in w.scope.variables.values() if v.text.isidentifier() and v.type == kind]
        if len(known) < 2 or w.mode == "inference":
            return False
        first, second = rng.sample(known, 2)
        w.write(f"{first.text}, {second.text} = {second.text}, {first.text}")
        w.keep(first.text, of(second), kind, second.many)
        w.keep(second.text, of(first), kind, first.many)
        return True
    one, two, pair = w.expr(kind), w.expr(kind), w.fresh("pair")
    w.write(f"{pair} = ({one.text}, {two.text})")
    w.keep(f"{pair}[0]", one, kind)
    w.keep(f"{pair}[1]", two, kind)
    if rng.random() < 0.5:
        names = [w.fresh("t"), w.fresh("t")]
        w.write(f"{names[0]}, {names[1]} = {pair}")
        w.keep(names[0], one, kind)
        w.keep(names[1], two, kind)
    return True


@statement(3)
def attribute(w: Writer) -> bool:
    """What is kept on an object."""
    rng = w.rng
    boxes = [t for t in w.scope.variables if t.startswith("box")]
    if not boxes and w.indent:
        return False
    if not boxes:
        w.write("class Box:")
        w.write("    pass")
        w.write("box = Box()")
    name = rng.choice(("h", "total", "last"))
    before = w.scope.variables.get(f"box.{name}")
    if before is None and w.indent:
        return False
    kind = before.type if before else rng.choice("SVM")
    made = w.expr(kind)
    if before is not None and rng.random() < 0.6:
        made = Made(f"box.{name} {rng.choice('+*')} {made.text}", made.grad or before.grad, made.past | before.past)
    w.let(f"box.{name}", made, kind)
    return True


@statement(2)
def comprehension(w: Writer) -> bool:
    """A list made at once."""
    rng, name = w.rng, w.fresh("many")
    if w.indent:
        return False
    kind = rng.choice("SVM")
    made = w.expr(kind, 1)
    w.write(f"{name} = [{made.text} * k for k in range({rng.randint(1, 3)})]")
    w.scope.lists[name] = kind
    w.keep(f"{name}[-1]", made.then("") if not made.leaf else Made("", made.grad, made.past), kind)
    return True
