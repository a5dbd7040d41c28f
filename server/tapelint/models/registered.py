"""All models of library functions: importing this module registers them."""

from types import ModuleType

from .frameworks import absl_flags, launchers, paused_optimizers, unit_tests
from .python import (
    arrays,
    builtins,
    click_commands,
    containers,
    copying,
    dataclass_options,
    dynamic_attributes,
    import_module,
    launched_functions,
    option_parsers,
    paths,
    sets,
    type_tests,
    typer_commands,
)
from .python.configs import config_files, config_objects, hydra_programs, hyperpyyaml
from .torch import amp, composites, custom_ops, distributions, einops, measures, tensors, vectors
from .torch.autograd import backward_calls, checkpoint, grad_calls, grad_mode, tensor_hooks
from .torch.autograd_function import apply
from .torch.func import transforms, vmap
from .torch.nn import (
    assumed_networks,
    functional,
    functional_call,
    kept_states,
    layers,
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
    click_commands,
    composites,
    config_files,
    config_objects,
    containers,
    copying,
    custom_ops,
    dataclass_options,
    distributions,
    dynamic_attributes,
    einops,
    functional,
    functional_call,
    grad_calls,
    grad_mode,
    hydra_programs,
    hyperpyyaml,
    import_module,
    launched_functions,
    paused_optimizers,
    launchers,
    kept_states,
    layers,
    measures,
    module_wrappers,
    modules,
    optimizer_subclasses,
    optimizers,
    absl_flags,
    option_parsers,
    packed_sequences,
    parametrizations,
    paths,
    schedulers,
    sets,
    tensor_hooks,
    tensors,
    transforms,
    type_tests,
    typer_commands,
    unit_tests,
    vectors,
    vmap,
    weight_averages,
)
