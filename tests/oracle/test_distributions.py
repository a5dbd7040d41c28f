"""Which distributions compute when they are made, so that their first backward frees what later calls need."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch import distributions

from tapelint.models.torch.distributions import COMPUTES_WHEN_MADE, MOVED, SHIFTED, UNMOVED


def parameter(*shape: int) -> torch.Tensor:
    return (torch.rand(*shape) * 0.5 + 0.2).requires_grad_()


MAKE = {
    "Normal": lambda: distributions.Normal(parameter(3), parameter(3)),
    "LogNormal": lambda: distributions.LogNormal(parameter(3), parameter(3)),
    "Categorical": lambda: distributions.Categorical(logits=parameter(3)),
    "OneHotCategorical": lambda: distributions.OneHotCategorical(logits=parameter(3)),
    "Multinomial": lambda: distributions.Multinomial(5, logits=parameter(3)),
    "Beta": lambda: distributions.Beta(parameter(3), parameter(3)),
    "Gamma": lambda: distributions.Gamma(parameter(3), parameter(3)),
    "Exponential": lambda: distributions.Exponential(parameter(3)),
    "Laplace": lambda: distributions.Laplace(parameter(3), parameter(3)),
    "Dirichlet": lambda: distributions.Dirichlet(parameter(3)),
    "Poisson": lambda: distributions.Poisson(parameter(3)),
    "Cauchy": lambda: distributions.Cauchy(parameter(3), parameter(3)),
    "Gumbel": lambda: distributions.Gumbel(parameter(3), parameter(3)),
    "HalfNormal": lambda: distributions.HalfNormal(parameter(3)),
    "Pareto": lambda: distributions.Pareto(parameter(3), parameter(3)),
    "Weibull": lambda: distributions.Weibull(parameter(3), parameter(3)),
    "Chi2": lambda: distributions.Chi2(parameter(3)),
    "MultivariateNormal": lambda: distributions.MultivariateNormal(parameter(3), parameter(3).diag()),
}


@pytest.mark.parametrize("name", MAKE)
def test_one_object_and_two_backwards(name: str) -> None:
    made = MAKE[name]()
    value = made.sample()
    made.log_prob(value).sum().backward()
    if name in COMPUTES_WHEN_MADE:
        with pytest.raises(RuntimeError, match="second time"):
            made.log_prob(value).sum().backward()
    else:
        made.log_prob(value).sum().backward()


@pytest.mark.parametrize(("name", "asked"), list(product(sorted(SHIFTED), sorted(MOVED | UNMOVED))))
def test_shifted_samples_save_nothing_for_the_mean(name: str, asked: str) -> None:
    def answer(loc: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        kind = getattr(distributions, name)
        made = kind(loc, scale_tril=scale.diag()) if name == "MultivariateNormal" else kind(loc, scale)
        return getattr(made, asked)(*[torch.full((3,), 0.4)] * (asked == "icdf"))

    if (name, asked) == ("MultivariateNormal", "icdf"):
        pytest.skip("it has none")
    moved = asked in MOVED
    plain = torch.rand(3) + 0.2
    of_loc, of_scale = answer(parameter(3), plain), answer(plain, parameter(3))
    assert (of_loc.requires_grad, of_scale.requires_grad) == (moved, True)
    if moved:
        of_loc.sum().backward()
        of_loc.sum().backward()
    of_scale.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        of_scale.sum().backward()
