"""Finds out what one call saves by watching what autograd complains about.

A call is made again and again, each time with other inputs requiring a gradient. Then

- a second backward raises if a node had saved something;
- after the version of an input or an output went up, backward raises if a node had saved that tensor.

So this works for whatever a function is made of: one op, a dozen, Python code, a custom autograd Function.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from tools.ops.quiet import quiet
from torch import Tensor
from torch.autograd.graph import GradientEdge
from torch.utils._pytree import tree_flatten

from tapelint.ops.schema import View

# The tensors are tiny: a second thread would only wait for the first.
torch.set_num_threads(1)

Arguments = dict[str, Any]
Call = Callable[[Arguments], Any]
Edges = list[tuple[GradientEdge, Tensor]]


class Unsuitable(Exception):
    """A sample that says nothing: it is empty, or PyTorch refuses it.

    If it runs but has no backward, the second argument is what is left to say: where gradients flow.
    """


@dataclass(frozen=True, slots=True)
class Observation:
    """What one sample showed. The sets of names are the sets of inputs that required grad."""

    given: frozenset[str]
    flows: frozenset[str]
    saved: Mapping[str, frozenset[frozenset[str]]]
    reusable: frozenset[frozenset[str]]
    subsets: frozenset[frozenset[str]]
    view: View
    scalar: bool
    dim: int
    outputs: int
    constant: frozenset[int]
    writes: frozenset[str]
    grad_fn: str


@dataclass(slots=True)
class _Run:
    tensors: dict[str, list[Tensor]]
    outputs: list[Any]
    is_list: bool
    versions: dict[str, list[int]]

    @property
    def roots(self) -> list[Tensor]:
        return [out for out in self.outputs if isinstance(out, Tensor) and out.requires_grad]

    def edges(self) -> Edges:
        """Where backward starts. To be taken before a version goes up: a view's grad_fn is made anew after that."""
        return [(torch.autograd.graph.get_gradient_edge(root), torch.ones_like(root)) for root in self.roots]


def observe(call: Call, arguments: Arguments) -> Observation:
    """Probes ``call(arguments)``. Raises Unsuitable where that cannot be done."""
    with quiet():
        return _observe(call, arguments)


def _observe(call: Call, arguments: Arguments) -> Observation:
    tensors = tensors_of(arguments)
    if any(tensor.numel() == 0 or tensor.layout is not torch.strided for ts in tensors.values() for tensor in ts):
        raise Unsuitable("an empty or a sparse tensor")
    plain = _plain_run(call, arguments)
    flows = _differentiable(call, arguments, tensors)
    saved: dict[str, set[frozenset[str]]] = {}
    reusable: set[frozenset[str]] = set()
    subsets: list[frozenset[str]] = []
    for subset in _subsets(flows):
        run = _run(call, arguments, subset)
        if _raises(run.edges(), retain_graph=True):
            continue  # a parameter whose gradient PyTorch has no formula for (the first of gammainc)
        subsets.append(subset)
        for what in _saved_tensors(run):
            saved.setdefault(what, set()).add(subset)
        if not _raises(run.edges(), retain_graph=False) and not _raises(run.edges(), retain_graph=False):
            reusable.add(subset)
    observation = _described(call, arguments, plain, flows)
    observation = replace(
        observation,
        saved={what: frozenset(where) for what, where in saved.items()},
        reusable=frozenset(reusable),
        subsets=frozenset(subsets),
    )
    if flows and not subsets:
        nothing = replace(observation, saved={}, reusable=observation.subsets)
        raise Unsuitable("no backward", nothing)
    return observation


def _plain_run(call: Call, arguments: Arguments) -> _Run:
    """The call where no input requires grad."""
    plain = _run(call, arguments, frozenset())
    if plain.roots:
        raise Unsuitable("requires grad by itself")
    if any(isinstance(out, Tensor) and (out.layout is not torch.strided or out.is_quantized) for out in plain.outputs):
        raise Unsuitable("a sparse or quantized result")
    return plain


def _differentiable(call: Call, arguments: Arguments, tensors: Mapping[str, Sequence[Tensor]]) -> list[str]:
    """The inputs whose gradient flows to a result."""
    flows = []
    for name, given in tensors.items():
        if not any(tensor.is_floating_point() or tensor.is_complex() for tensor in given):
            continue
        try:
            if _run(call, arguments, frozenset({name})).roots:
                flows.append(name)
        except Unsuitable:
            continue
    return flows


def _described(call: Call, arguments: Arguments, plain: _Run, flows: Sequence[str]) -> Observation:
    """The results of the call, and what it writes; nothing about what is saved."""
    tensors = tensors_of(arguments)
    full = _run(call, arguments, frozenset(flows))
    outputs = [out for out in full.outputs if isinstance(out, Tensor)]
    return Observation(
        given=frozenset(tensors),
        flows=frozenset(flows),
        saved={},
        reusable=frozenset(),
        subsets=frozenset(),
        view=_view(_run(call, arguments, frozenset(flows)), bool(flows)),
        scalar=bool(outputs) and all(o.dim() == 0 for o in outputs),
        dim=max_dim(tensors),
        outputs=-1 if full.is_list else len(outputs),
        constant=frozenset(i for i, o in enumerate(outputs) if not o.requires_grad) if flows else frozenset(),
        writes=frozenset(name for name, before in plain.versions.items() if before != _versions(plain, name)),
        grad_fn=next((o.grad_fn.name() for o in outputs if o.grad_fn is not None), ""),
    )


def tensors_of(arguments: Mapping[Any, Any]) -> dict[Any, list[Tensor]]:
    found = {name: [x for x in tree_flatten(value)[0] if isinstance(x, Tensor)] for name, value in arguments.items()}
    return {name: ts for name, ts in found.items() if ts}


def max_dim(tensors: Mapping[Any, list[Tensor]]) -> int:
    """The dimensions of the largest tensor, not counting those of size 1."""
    sizes = [tensor.shape for ts in tensors.values() for tensor in ts]
    return max((sum(size > 1 for size in shape) for shape in sizes), default=0)


def _subsets(names: list[str]) -> Iterator[frozenset[str]]:
    if len(names) <= 3:
        for size in range(1, len(names) + 1):
            yield from (frozenset(chosen) for chosen in itertools.combinations(names, size))
    else:
        yield from (frozenset({name}) for name in names)
        yield from (frozenset(names) - {name} for name in names)
        yield frozenset(names)


def _run(call: Call, arguments: Arguments, needing_grad: frozenset[str]) -> _Run:
    torch.default_generator.manual_seed(0)
    fresh: Arguments = {}
    for name, value in arguments.items():
        fresh[name] = renewed(value, name in needing_grad)
    tensors = tensors_of(fresh)
    run = _Run(tensors, [], False, {})
    run.versions = {name: _versions(run, name) for name in tensors}
    try:
        result = call(fresh)
    except Exception as error:  # whatever PyTorch refuses is of no use as a sample
        raise Unsuitable(str(error)) from error
    if result is NotImplemented:
        raise Unsuitable("not implemented")
    run.outputs, _ = tree_flatten(result)
    run.is_list = isinstance(result, list) or _is_nested(result)
    return run


def _is_nested(result: object) -> bool:
    return isinstance(result, tuple) and any(isinstance(item, (tuple, list)) for item in result)


def renewed(value: Any, needs_grad: bool) -> Any:
    """A copy that is not a leaf, so that it may be written in place, with a history that saves nothing."""
    if isinstance(value, Tensor):
        copy = value.detach().clone()
        if needs_grad and (copy.is_floating_point() or copy.is_complex()):
            return copy.requires_grad_().clone()
        return copy
    if type(value) in (list, tuple):
        return type(value)(renewed(item, needs_grad) for item in value)
    return value


def _versions(run: _Run, name: str) -> list[int]:
    return [tensor._version for tensor in run.tensors[name]]


def _saved_tensors(run: _Run) -> Iterator[str]:
    """The names of inputs and outputs that backward insists to find unchanged."""
    edges = run.edges()
    for what, tensors in _checkable(run).items():
        if any(_is_saved(tensor, edges) for tensor in tensors):
            yield what


def _checkable(run: _Run) -> dict[str, list[Tensor]]:
    """Inputs and outputs by name, each tensor under one name."""
    wanted = dict(run.tensors)
    written = {name for name, before in run.versions.items() if before != _versions(run, name)}
    for index, out in enumerate(out for out in run.outputs if isinstance(out, Tensor)):
        owner = next((name for name, ts in run.tensors.items() if any(_shares(t, out) for t in ts)), None)
        if owner is None:
            wanted[f"result{index or ''}"] = [out]
        elif owner in written and any(t is out for t in run.tensors[owner]):
            wanted.pop(owner, None)
            wanted["result"] = [out]
    return wanted


def _is_saved(tensor: Tensor, edges: Edges) -> bool:
    version = tensor._version
    torch.autograd.graph.increment_version(tensor)
    try:
        return bool(_raises(edges, retain_graph=True))
    finally:
        torch._C._autograd._unsafe_set_version_counter((tensor,), (version,))


def _shares(tensor: Tensor, out: Tensor) -> bool:
    """Do they share a version counter? True for the tensor itself, for its views and for what detach() gives."""
    before, version = tensor._version, out._version
    torch.autograd.graph.increment_version(out)
    try:
        return bool(tensor._version != before)
    finally:
        torch._C._autograd._unsafe_set_version_counter((out,), (version,))


def _raises(edges: Edges, *, retain_graph: bool) -> bool:
    try:
        torch.autograd.backward([edge for edge, _ in edges], [grad for _, grad in edges], retain_graph=retain_graph)
    except (RuntimeError, NotImplementedError):
        return True
    return False


def _view(run: _Run, has_grad: bool) -> View:
    inputs = [tensor for ts in run.tensors.values() for tensor in ts]
    outputs = [out for out in run.outputs if isinstance(out, Tensor)]
    if not outputs or not inputs:
        return ""
    if any(outputs[0] is tensor for tensor in inputs):
        return "same"
    if not any(_shares(tensor, outputs[0]) for tensor in inputs):
        return ""
    if has_grad:
        try:
            outputs[0].add_(1)
        except RuntimeError as error:
            if "multiple views" in str(error):
                return "multi"
    return "view"
