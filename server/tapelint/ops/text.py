"""The notation of a row, one line each:

    mul/Tensor(self:tensor, other:tensor); flows other self; saves other<self self<other; MulBackward0; derivatives
    max/dim(self:tensor, dim:int, keepdim=bool); flows self; saves result1; outputs 2; constant 1; MaxBackward0; ...

``name:kind`` is a required parameter, ``name=kind`` one with a default, what follows ``*`` is keyword-only.
``other<self`` reads: other is saved for the gradient of self. A clause that would say nothing is left out.

A layer is a line of several such rows, each for one way to call it:

    Linear(in_features, out_features, bias, device, dtype) | params weight bias? | returns T | train(input:tensor, ...
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from tapelint.ops.schema import Layer, Op, Param, Saved, View


def split_name(line: str) -> str:
    """The base name a row is found under."""
    return line[: line.index("(")].partition("/")[0]


def parse_op(line: str) -> Op:
    """The row one line of the table stands for."""
    signature, _, rest = line.partition(")")
    full_name, _, inside = signature.partition("(")
    name, _, overload = full_name.partition("/")
    clauses = rest.split("; ")[1:]
    said: dict[str, list[str]] = {}
    grad_fn = ""
    for clause in clauses[:-1]:
        word, *values = clause.split(" ")
        if word[0].isupper():
            grad_fn = word
        else:
            said[word] = values
    return Op(
        name=name,
        overload=overload,
        params=parse_params(inside),
        flows=frozenset(said.get("flows", ())),
        saves=tuple(_saved(text) for text in said.get("saves", ())),
        writes=tuple(said.get("writes", ())),
        view=cast(View, said.get("view", [""])[0]),
        scalar="scalar" in said,
        outputs=int(said.get("outputs", ["1"])[0]),
        constant=frozenset(int(index) for index in said.get("constant", ())),
        sizes=tuple(said.get("sizes", ())),
        grad_fn=grad_fn,
        source=clauses[-1],
    )


def parse_params(inside: str) -> tuple[Param, ...]:
    params = []
    keyword = False
    for part in inside.split(", ") if inside else ():
        if part == "*":
            keyword = True
            continue
        variadic = part.startswith("*")
        mark = ":" if ":" in part else "="
        name, _, kind = part.lstrip("*").partition(mark)
        params.append(Param(name, kind, mark == ":", keyword, variadic))
        keyword = keyword or variadic
    return tuple(params)


def _saved(text: str) -> Saved:
    what, _, gradient_of = text.partition("<")
    return Saved(what, frozenset(gradient_of.split(",")) if gradient_of else frozenset())


def parse_layer(line: str) -> Layer:
    """The layer one line of ``layers.txt`` stands for."""
    head, *parts = line.split(" | ")
    name, _, arguments = head.rstrip(")").partition("(")
    said: dict[str, tuple[str, ...]] = {}
    ops: dict[str, Op] = {}
    for part in parts:
        word, _, rest = part.partition(" ")
        if "(" in word:
            op = parse_op(part)
            ops[op.name] = replace(op, name=name.lower(), overload=op.name)
        else:
            said[word] = tuple(rest.split(" "))
    return Layer(
        name=name,
        arguments=tuple(arguments.split(", ")) if arguments else (),
        params=said.get("params", ()),
        buffers=said.get("buffers", ()),
        output=said["returns"][0],
        op=ops["train"],
        eval_op=ops.get("eval"),
        inplace=ops.get("inplace"),
        unreduced=ops.get("unreduced"),
        indices=ops.get("indices"),
        bidirectional=ops.get("bidirectional"),
    )
