"""The functions of some modules make arrays of all that they are given, and a tensor that requires grad refuses."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tapelint.models.python.arrays import ASKING, CONVERTING, PLAIN, REFUSED

VECTOR, NUMBER, MATRIX = (torch.rand(sizes).requires_grad_() for sizes in ((3,), (), (3, 3)))
LOADING = "source info test load loadtxt genfromtxt fromfile memmap show_config show_runtime".split()


def outcomes(function: Callable[..., object], arguments: list[tuple[Any, ...]]) -> set[str]:
    """What calls raise: the words of PyTorch, ``nothing``, or ``other``."""
    found = set()
    for given in arguments:
        try:
            function(*given)
            found.add("nothing")
        except Exception as error:
            found.add(REFUSED if REFUSED in str(error) else "other")
    return found


@pytest.mark.parametrize("module", [name for name in CONVERTING if name.startswith("numpy")])
@pytest.mark.filterwarnings("ignore")
def test_what_is_not_listed_takes_no_tensor(module: str) -> None:
    known = importlib.import_module(module)
    names = [n for n in dir(known) if not n.startswith("_") and n not in PLAIN and n not in LOADING]
    functions = [getattr(known, n) for n in names if n not in ASKING and callable(getattr(known, n))]
    given = [(VECTOR,), (NUMBER,), (MATRIX,), (VECTOR, np.ones(3)), (np.ones(3), VECTOR)]
    told = {f.__name__: outcomes(f, given) for f in functions}
    assert [name for name, found in told.items() if "nothing" in found] == []
    assert sum(REFUSED in found for found in told.values()) > len(told) / 2


@pytest.mark.parametrize("name", sorted(ASKING))
def test_a_tensor_is_asked_itself_and_a_list_is_converted(name: str) -> None:
    function = getattr(np, name, None)
    if function is None:
        pytest.skip(f"this NumPy has no {name}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert outcomes(function, [(VECTOR,), (NUMBER,)]) != {REFUSED}
        assert REFUSED in outcomes(function, [([NUMBER, NUMBER],), ([VECTOR, VECTOR], np.ones(3)), ([MATRIX], 1)])


@pytest.mark.parametrize(
    ("module", "name", "given"),
    [
        ("scipy.spatial.distance", "cosine", (np.ones(3), VECTOR)),
        ("scipy.signal", "find_peaks", (VECTOR,)),
        ("scipy.linalg", "inv", (MATRIX,)),
        ("sklearn.metrics", "f1_score", (np.array([0, 1, 1]), VECTOR)),
        ("sklearn.metrics", "roc_auc_score", (np.array([0, 1, 1]), VECTOR)),
        ("matplotlib.pyplot", "plot", (VECTOR,)),
        ("matplotlib.pyplot", "plot", (range(2), [NUMBER, NUMBER])),
        ("matplotlib.pyplot", "imshow", (MATRIX,)),
    ],
)
def test_those_of_other_libraries_convert_as_well(module: str, name: str, given: tuple[Any, ...]) -> None:
    assert module in CONVERTING
    function = getattr(pytest.importorskip(module), name)
    assert outcomes(function, [given]) == {REFUSED}
