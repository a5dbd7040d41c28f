"""``torch.distributions``: an object that keeps its parameters and computes with them when asked.

Most distributions compute everything anew at each call, so one object may serve many backwards. Some already compute
when they are made (``Categorical`` normalises its logits): that part of the graph is shared by all calls and freed by
the first backward. Which ones do was measured; ``tests/oracle/test_distributions.py`` measures it again.
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
PARAMETERS = "(arguments)"
SAMPLES = ("sample", "sample_n", "enumerate_support")
ASKED = ("log_prob", "rsample", "entropy", "cdf", "icdf", "mean", "variance", "stddev")


def make(m: Machine, state: State, call: Call) -> Value:
    name = call.name.rpartition(".")[2]
    given = [t for v in (*call.args, *call.kwargs.values()) for t in arguments(m, state, v)]
    if name in COMPUTES_WHEN_MADE and any(current(state, t).requires_grad for t in given):
        given = [invent(m.tape, state, given, call.node, None, op=name)]
    kept = Ref(state.new(Sequence("list", [TensorRef(t) for t in given])))
    return Ref(state.new(Instance(Lib(f"torch.distributions.{name}"), {PARAMETERS: kept})))


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
    if not any(current(state, t).requires_grad is not False for t in given):
        return TensorRef(leaf(state, call.node))
    return TensorRef(invent(m.tape, state, given, call.node, None, op=call.name))


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
