"""``torch.distributions``: an object that keeps its parameters and computes with them when asked.

Most distributions compute everything anew at each call, so one object may serve many backwards. Some already compute
when they are made (``Categorical`` normalises its logits): that part of the graph is shared by all calls and freed by
the first backward.

    Normal(mu, sigma).rsample()    # mu + eps * sigma: nothing is kept for mu
    Normal(mu, sigma).entropy()    # of sigma alone

Which do what was measured; ``tests/oracle/test_distributions.py`` measures it again.
"""

from __future__ import annotations

from ...tape import State, current, invent, leaf
from ..assign import tensors_in
from ..machine import Machine
from ..values import Instance, Lib, Ref, Sequence, TensorRef, Value
from .registry import FUNCTIONS, Call

COMPUTES_WHEN_MADE = frozenset({"Categorical", "OneHotCategorical", "Multinomial", "Weibull", "Chi2"})
COMPUTES_WHEN_ASKED = frozenset(
    "Normal LogNormal Beta Gamma Exponential Laplace Dirichlet Poisson Cauchy Uniform Gumbel HalfNormal Pareto "
    "Bernoulli Geometric "
    "StudentT Independent TransformedDistribution RelaxedBernoulli".split()
)
_SCALED = {"rsample": (True, True), "icdf": (True, True), "entropy": (False, True), "variance": (False, True)}
SHIFTED: dict[str, dict[str, tuple[bool, bool]]] = {
    "Normal": _SCALED | {"mean": (True, False)},
    "Laplace": _SCALED | {"mean": (True, False), "stddev": (False, True)},
    "Gumbel": _SCALED | {"mean": (True, True), "stddev": (False, True)},
    "Cauchy": {name: _SCALED[name] for name in ("rsample", "icdf", "entropy")},
}
"""Of distributions that ``loc`` only shifts: whether something is moved by it (nothing is kept for that), and whether
it is computed from the other parameters.
"""
PARAMETERS, LOCATION = "(arguments)", "(loc)"
SAMPLES = ("sample", "sample_n", "enumerate_support")
ASKED = ("log_prob", "rsample", "entropy", "cdf", "icdf", "mean", "variance", "stddev")


def make(m: Machine, state: State, call: Call) -> Value:
    name = call.name.rpartition(".")[2]
    given = [t for v in (*call.args, *call.kwargs.values()) for t in arguments(m, state, v)]
    if name in COMPUTES_WHEN_MADE and any(current(state, t).requires_grad for t in given):
        given = [invent(m.tape, state, given, call.node, None, op=name)]
    kept = {PARAMETERS: Ref(state.new(Sequence("list", [TensorRef(t) for t in given])))}
    if name in SHIFTED and isinstance(loc := call.kwargs.get("loc", call.args[0] if call.args else None), TensorRef):
        kept[LOCATION] = loc
    return Ref(state.new(Instance(Lib(f"torch.distributions.{name}"), kept)))


def arguments(m: Machine, state: State, value: Value) -> list[int]:
    """The tensors a distribution is made of; of a distribution inside another one, its own."""
    if isinstance(value, Ref) and isinstance(thing := state.heap[value.id], Instance):
        inner = thing.attributes.get(PARAMETERS)
        return list(tensors_in(state, inner)) if inner is not None else []
    return list(tensors_in(state, value))


def ask(m: Machine, state: State, call: Call) -> Value:
    receiver, rest = call.args[0], call.args[1:]
    if call.name in SAMPLES:
        return TensorRef(leaf(state, call.node))
    given = [*arguments(m, state, receiver), *(t for v in rest for t in tensors_in(state, v))]
    located = _located(state, receiver)
    if located is not None and call.name in SHIFTED[located[0]]:
        return shifted(m, state, call, SHIFTED[located[0]][call.name], located[1], given)
    if not any(current(state, t).requires_grad is not False for t in given):
        return TensorRef(leaf(state, call.node))
    return TensorRef(invent(m.tape, state, given, call.node, None, op=call.name))


def _located(state: State, value: Value) -> tuple[str, int] | None:
    """The kind of a shifted distribution, and its ``loc``."""
    thing = state.heap[value.id] if isinstance(value, Ref) else None
    if not isinstance(thing, Instance) or not isinstance(thing.kind, Lib):
        return None
    if not isinstance(loc := thing.attributes.get(LOCATION), TensorRef):
        return None
    return thing.kind.name.rpartition(".")[2], loc.id


def shifted(m: Machine, state: State, call: Call, how: tuple[bool, bool], loc: int, given: list[int]) -> Value:
    """What is computed from the other parameters, and moved by ``loc``."""
    moved, computed = how
    rest = [t for t in given if t != loc and computed and current(state, t).requires_grad is not False]
    made = [invent(m.tape, state, rest, call.node, None, op=call.name)] if rest else []
    if moved and current(state, loc).requires_grad is not False:
        return TensorRef(invent(m.tape, state, [loc, *made], call.node, None, op=call.name, keeps=False))
    return TensorRef(made[0] if made else leaf(state, call.node))


def divergence(m: Machine, state: State, call: Call) -> Value:
    given = [t for v in call.args for t in arguments(m, state, v)]
    if not any(current(state, t).requires_grad is not False for t in given):
        return TensorRef(leaf(state, call.node))
    return TensorRef(invent(m.tape, state, given, call.node, None, op="kl_divergence"))


for _name in COMPUTES_WHEN_MADE | COMPUTES_WHEN_ASKED:
    for _prefix in ("torch.distributions", f"torch.distributions.{_name.lower()}"):
        FUNCTIONS[f"{_prefix}.{_name}"] = make
    for _method in (*SAMPLES, *ASKED):
        FUNCTIONS[f"torch.distributions.{_name}.{_method}"] = ask
FUNCTIONS["torch.distributions.kl_divergence"] = FUNCTIONS["torch.distributions.kl.kl_divergence"] = divergence
