"""Abstract execution: runs a syntax tree over the tape, path by path, iteration by iteration."""

from . import (
    assign,
    attributes,
    branches,
    calls,
    classes,
    contexts,
    displays,
    functions,
    importing,
    loops,
    operators,
    statements,
    subscripts,
)
from .entry import execute
from .holes import Holes
from .imports import Imports
from .library import (
    amp,
    arrays,
    attribute_names,
    autograd_function,
    backward,
    batching,
    builtins,
    checkpoint,
    containers,
    copying,
    custom_ops,
    distributions,
    functional,
    functional_call,
    grad_mode,
    gradients,
    hooks,
    kinds,
    launchers,
    layers,
    modules,
    optimizers,
    own_optimizers,
    parametrizations,
    schedulers,
    sequences,
    tensors,
    transforms,
    vectors,
    weight_averages,
    wrappers,
)
from .machine import Cancelled, Machine, Place, place_of
from .steps import Memory, Step, walked
from .told import Resolve

__all__ = [
    "Cancelled",
    "Holes",
    "Imports",
    "Machine",
    "Memory",
    "Place",
    "Resolve",
    "Step",
    "execute",
    "place_of",
    "walked",
]
