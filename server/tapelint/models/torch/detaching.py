"""Tensors that leave the graph or join it: ``detach()``, ``.data``, ``requires_grad``."""

from __future__ import annotations

import ast
from dataclasses import replace

from ...autograd import Cut, CutReason, Node, Provenance, Tensor, doubt_maybe_same, fresh_id, set_by_program
from ...autograd.events.broken_graph import RequiresGradRefused
from ...autograd.model.guesses import assumed_below, is_unproven
from ...domain.completion import ProgramRaised
from ...domain.state import State
from ...domain.values import Const, Value
from ...engine.machine import Machine
from . import dispatch
from .nn import frozen_parts


def cut(machine: Machine, state: State, tensor: Tensor, node: ast.AST, reason: CutReason, operation: str = "") -> int:
    """``detach()``, ``.data`` and their like: the same memory without history. Only ``.data`` gets a version counter of
    its own.
    """
    key = fresh_id()
    counter = key if reason is CutReason.DATA else tensor.version_counter
    state.tensors[key] = Tensor(
        key,
        counter,
        tensor.storage,
        state.point(node),
        False,
        view="inference" if state.inference else "",
        inference=tensor.inference,
        view_version=state.version(counter),
        sizes=tensor.sizes,
        kind=tensor.kind,
    )
    if tensor.id in machine.facts.contents.float32:
        machine.facts.contents.float32.add(key)
    if tensor.id in machine.facts.contents.on_cpu:
        machine.facts.contents.on_cpu.add(key)
    if tensor.base is not None or tensor.id in machine.facts.memory.parts:
        machine.facts.memory.parts.add(key)
    known = machine.facts.provenance_of(tensor.id)
    lost = Cut(state.point(node), reason, operation, source=tensor.grad_fn) if tensor.requires_grad else known.cut
    if lost is not None or known.from_gradient:
        machine.facts.record_provenance(key, Provenance(cut=lost, from_gradient=known.from_gradient))
    return key


def another_name(machine: Machine, state: State, source: Tensor, is_copied: bool, node: ast.AST) -> int:
    """What a conversion makes of data: a copy, if ``is_copied``, else that or the very same tensor. It has the memory
    of the other one for all that is known.
    """
    key, facts = fresh_id(), machine.facts
    state.tensors[key] = replace(source, id=key, created_at=state.point(node))
    for known in (
        facts.contents.float32,
        facts.contents.on_cpu,
        facts.memory.parts,
        facts.memory.contiguous,
        facts.objects.handed_out,
    ):
        if source.id in known:
            known.add(key)
    if source.id in facts.memory.maybe_copied:
        facts.memory.maybe_copied[key] = facts.memory.maybe_copied[source.id]
    facts.record_provenance(key, facts.provenance_of(source.id))
    if not is_copied:
        facts.memory.maybe_same[key] = source.id
    return key


def _refuse(machine: Machine, state: State, tensor: Tensor, graph: Node, wanted: bool, node: ast.AST) -> None:
    """What has a ``graph`` is no leaf, whose flag may not be set; raise where the graph is certain."""
    if tensor.assumption or not graph.certain or is_unproven(machine.facts.networks.proven_networks, state, (graph,)):
        return
    because = assumed_below(state, graph)
    machine.facts.events.publish(
        RequiresGradRefused(
            point=state.point(node),
            because=because,
            tensor=tensor.id,
            reason="leaf",
            wanted=wanted,
            created_at=tensor.created_at,
            recorded=graph,
        )
    )
    if not because:
        raise ProgramRaised("RuntimeError", "you can only change requires_grad flags of leaf variables.", by_torch=True)


def set_requires_grad(
    machine: Machine, state: State, tensor: Tensor, value: Value, strict: bool, node: ast.AST
) -> None:
    """``t.requires_grad = v`` (strict) and ``t.requires_grad_(v)``: PyTorch refuses to switch it off on a non-leaf; the
    assignment refuses to switch it on there too."""
    wanted = frozen_parts.flag_of_some(machine, state, tensor, value.value if isinstance(value, Const) else None, node)
    if tensor.grad_fn is not None and tensor.requires_grad:
        if (wanted is False or strict) and wanted is not None:
            _refuse(machine, state, tensor, tensor.grad_fn, bool(wanted), node)
        return
    if wanted:
        dispatch.refuse_integers(machine, state, tensor.id, node)
        machine.facts.record_provenance(tensor.id, Provenance(rewrapped=state.point(node)))
    set_by_program(machine.facts, state, tensor, bool(wanted) if wanted is not None else None, node)
    if wanted is not False:
        doubt_maybe_same(machine.facts, state, tensor.id)
