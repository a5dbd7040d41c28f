"""All models of library functions: importing this module registers them."""

from types import ModuleType

from .frameworks import launchers, paused_optimizers, unit_tests
from .python import (
    arrays,
    builtins,
    config_objects,
    containers,
    copying,
    dynamic_attributes,
    import_module,
    inspected,
    iterators,
    launched_functions,
    option_parsers,
    sets,
    type_tests,
)
from .torch import amp, composites, custom_ops, distributions, einops, legacy_constructors, measures, tensors, vectors
from .torch.autograd import backward_calls, checkpoint, grad_calls, grad_mode, tensor_hooks, whole_derivatives
from .torch.autograd_function import apply
from .torch.func import transforms, vmap
from .torch.nn import (
    assumed_networks,
    functional_call,
    kept_states,
    layer_models,
    module_wrappers,
    modules,
    packed_sequences,
    parametrizations,
    weight_averages,
)
from .torch.optim import optimizer_subclasses, optimizers, schedulers

MODELS: tuple[ModuleType, ...] = (
    amp,
    apply,
    arrays,
    assumed_networks,
    backward_calls,
    builtins,
    checkpoint,
    composites,
    config_objects,
    containers,
    copying,
    custom_ops,
    distributions,
    dynamic_attributes,
    einops,
    functional_call,
    grad_calls,
    grad_mode,
    import_module,
    inspected,
    iterators,
    kept_states,
    launched_functions,
    launchers,
    layer_models,
    legacy_constructors,
    measures,
    module_wrappers,
    modules,
    optimizer_subclasses,
    optimizers,
    option_parsers,
    packed_sequences,
    parametrizations,
    paused_optimizers,
    schedulers,
    sets,
    tensor_hooks,
    tensors,
    transforms,
    type_tests,
    unit_tests,
    vectors,
    vmap,
    weight_averages,
    whole_derivatives,
)
