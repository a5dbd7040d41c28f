"""``torch.distributions``: an object that keeps its parameters and computes with them when asked.

Most distributions compute everything anew at each call, so one object may serve many backwards. Some already compute
when they are made (``Categorical`` normalises its logits): that part of the graph is shared by all calls and freed by
the first backward.

    Normal(mu, sigma).rsample()    # mu + eps * sigma: nothing is kept for mu
    Normal(mu, sigma).entropy()    # of sigma alone

Which do what was measured; ``tests/oracle/test_distributions.py`` measures it again.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...autograd import invent, leaf, resolve_view
from ...domain import facets
from ...domain.state import State
from ...domain.traversal import tensors_in
from ...domain.values import NONE, External, HeapRef, Instance, Sequence, TensorRef, Unknown, Value
from ...engine.machine import Machine
from . import dispatch
from .registry import FUNCTIONS, Call

COMPUTES_WHEN_MADE = frozenset(
    {"Categorical", "OneHotCategorical", "Multinomial", "Weibull", "Chi2", "MultivariateNormal"}
)
COMPUTES_WHEN_ASKED = frozenset(
    "Normal LogNormal Beta Gamma Exponential Laplace Dirichlet Poisson Cauchy Uniform Gumbel HalfNormal Pareto "
    "Bernoulli Geometric StudentT Independent TransformedDistribution RelaxedBernoulli".split()
)
"""When a distribution computes with its parameters: in ``__init__``, or in ``log_prob`` and the other methods (the
files of torch/distributions).
"""
SHIFTED = frozenset({"Normal", "Laplace", "Gumbel", "Cauchy", "MultivariateNormal"})
"""Distributions that their first parameter, ``loc``, only shifts."""
MOVED, UNMOVED = frozenset({"rsample", "icdf"}), frozenset({"entropy"})
"""What of them is moved by ``loc``, which keeps nothing for it, and what does not depend on it."""
SAMPLES = ("sample", "sample_n", "enumerate_support")
ASKED = ("log_prob", "rsample", "entropy", "cdf", "icdf")


def make(machine: Machine, state: State, call: Call) -> Value:
    name = call.name.rpartition(".")[2]
    return HeapRef(state.new(Instance(External(f"torch.distributions.{name}"), _kept(machine, state, call, name))))


def initialize(machine: Machine, state: State, call: Call) -> Value:
    """``super().__init__(mu, sigma)``: an object of a class that is derived from a distribution keeps them, too."""
    receiver, name = call.args[0], call.name.split(".")[-2]
    if isinstance(receiver, HeapRef) and isinstance(state.heap[receiver.id], Instance):
        kept = _kept(machine, state, Call(call.name, call.args[1:], call.kwargs, call.node, call.key), name)
        thing = state.edit(receiver.id, Instance)
        thing.attributes.update(kept)
        thing.is_partial = True
    return NONE


def _kept(machine: Machine, state: State, call: Call, name: str) -> dict[str, Value]:
    """What a distribution keeps of what it is made of."""
    given: dict[int | str, Value] = dict([*enumerate(call.args), *call.kwargs.items()])
    parts = {facets.LOCATION: [given.pop(key) for key in ("loc", 0) if key in given and name in SHIFTED]}
    parts[facets.OTHER_PARAMETERS] = list(given.values())
    tensors = {
        part: [t for value in values for t in arguments(machine, state, value)] for part, values in parts.items()
    }
    if name in COMPUTES_WHEN_MADE and "scale_tril" not in given:  # which is what is computed otherwise
        computed = _computed(machine, state, call, tensors[facets.OTHER_PARAMETERS], name)
        tensors[facets.OTHER_PARAMETERS] = list(arguments(machine, state, computed))
    return {
        part: HeapRef(state.new(Sequence("list", [TensorRef(t) for t in found]))) for part, found in tensors.items()
    }


def arguments(
    machine: Machine, state: State, value: Value, parts: Iterable[str] = (facets.LOCATION, facets.OTHER_PARAMETERS)
) -> list[int]:
    """The tensors a distribution is made of; of a distribution inside another one, its own."""
    if isinstance(value, Unknown):
        tensor = dispatch.tensor_of(machine, state, value)
        return [] if tensor is None else [tensor]
    if isinstance(value, HeapRef) and isinstance(thing := state.heap[value.id], Instance):
        return [t for part in parts if part in thing.attributes for t in tensors_in(state, thing.attributes[part])]
    return list(tensors_in(state, value))


def ask(machine: Machine, state: State, call: Call) -> Value:
    receiver, rest = call.args[0], [t for value in call.args[1:] for t in arguments(machine, state, value)]
    name, thing = call.name.rpartition(".")[2], state.heap[receiver.id] if isinstance(receiver, HeapRef) else None
    if name in SAMPLES:
        return TensorRef(leaf(state, call.node))
    if not isinstance(thing, Instance) or facets.OTHER_PARAMETERS not in thing.attributes:
        return Unknown(name)  # it is not known what it is made of
    if _kind(state, receiver) not in SHIFTED or name not in MOVED | UNMOVED:
        return _computed(machine, state, call, [*arguments(machine, state, receiver), *rest], name)
    result = _computed(
        machine, state, call, [*arguments(machine, state, receiver, [facets.OTHER_PARAMETERS]), *rest], name
    )
    if name in UNMOVED:
        return result
    moved = [*arguments(machine, state, receiver, [facets.LOCATION]), *arguments(machine, state, result)]
    return _computed(machine, state, call, moved, name, saves_anything=False)


def _kind(state: State, value: Value) -> str:
    thing = state.heap[value.id] if isinstance(value, HeapRef) else None
    return (
        thing.kind.name.rpartition(".")[2] if isinstance(thing, Instance) and isinstance(thing.kind, External) else ""
    )


def _computed(
    machine: Machine, state: State, call: Call, given: list[int], op: str, saves_anything: bool = True
) -> Value:
    """A tensor that depends on what is ``given``; unknown where it is unknown whether that has a graph."""
    graphs = [resolve_view(state, key).requires_grad for key in given]
    if any(graphs):
        return TensorRef(invent(machine.facts, state, given, call.node, None, op=op, saves_anything=saves_anything))
    return Unknown(op) if None in graphs else TensorRef(leaf(state, call.node))


def divergence(machine: Machine, state: State, call: Call) -> Value:
    return _computed(
        machine, state, call, [t for v in call.args for t in arguments(machine, state, v)], "kl_divergence"
    )


for _name in COMPUTES_WHEN_MADE | COMPUTES_WHEN_ASKED:
    _file = "".join("_" * letter.isupper() + letter.lower() for letter in _name)[1:]
    for _prefix in ("torch.distributions", f"torch.distributions.{_file}"):
        FUNCTIONS[f"{_prefix}.{_name}"], FUNCTIONS[f"{_prefix}.{_name}.__init__"] = make, initialize
        FUNCTIONS.update((f"{_prefix}.{_name}.{_method}", ask) for _method in (*SAMPLES, *ASKED))
FUNCTIONS["torch.distributions.kl_divergence"] = FUNCTIONS["torch.distributions.kl.kl_divergence"] = divergence
