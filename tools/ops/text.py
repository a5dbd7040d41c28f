"""Writes rows in the notation that ``tapelint.ops.text`` reads."""

from __future__ import annotations

from dataclasses import replace

from tapelint.ops.schema import Layer, Op, Param, Saved


def op_line(op: Op) -> str:
    name = f"{op.name}/{op.overload}" if op.overload else op.name
    clauses = [f"{name}({params_text(op.params)})"]
    if op.flows:
        clauses.append("flows " + " ".join(sorted(op.flows)))
    if op.saves:
        clauses.append("saves " + " ".join(sorted(saved_text(saved) for saved in op.saves)))
    if op.writes:
        clauses.append("writes " + " ".join(op.writes))
    if op.view:
        clauses.append(f"view {op.view}")
    if op.scalar:
        clauses.append("scalar")
    if op.outputs != 1:
        clauses.append(f"outputs {op.outputs}")
    if op.constant:
        clauses.append("constant " + " ".join(str(index) for index in sorted(op.constant)))
    if op.sizes:
        clauses.append("sizes " + " ".join(op.sizes))
    if op.grad_fn:
        clauses.append(op.grad_fn)
    clauses.append(op.source)
    return "; ".join(clauses)


def params_text(params: tuple[Param, ...]) -> str:
    parts: list[str] = []
    keyword = False
    for param in params:
        if param.keyword and not keyword:
            keyword = True
            parts.append("*")
        star = "*" if param.variadic else ""
        parts.append(f"{star}{param.name}{':' if param.required else '='}{param.kind}")
        keyword = keyword or param.variadic
    return ", ".join(parts)


def saved_text(saved: Saved) -> str:
    return saved.what + ("<" + ",".join(sorted(saved.gradient_of)) if saved.gradient_of else "")


def layer_line(layer: Layer) -> str:
    parts = [f"{layer.name}({', '.join(layer.arguments)})"]
    tensors = {"params": layer.params, "buffers": layer.buffers}
    parts += [f"{word} {' '.join(names)}" for word, names in tensors.items() if names]
    parts.append(f"returns {layer.output}")
    ops = {"train": layer.op, "eval": layer.eval_op, "inplace": layer.inplace}
    ops |= {"unreduced": layer.unreduced, "indices": layer.indices, "bidirectional": layer.bidirectional}
    parts += [op_line(replace(op, name=word, overload="")) for word, op in ops.items() if op is not None]
    return " | ".join(parts)
