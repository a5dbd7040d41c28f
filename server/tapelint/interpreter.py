"""What an execution needs beside the engine: the models of libraries, registered by their import, and the checks."""

from types import ModuleType

from .checks import (
    cut_recurrences,
    dropped_detaches,
    evaluation_loops,
    leaf_cycles,
    lost_updates,
    other_tensors_held,
    overwritten_values,
    plain_flags,
    retention,
    steps_without_backward,
    training_mode,
    unoptimized_parameters,
    unregistered_parameters,
    unstepped_optimizers,
    wrong_parameters,
)
from .engine.lifecycle import Lifecycle, Topic
from .models.frameworks import launchers, paused_optimizers, started_functions, unit_tests
from .models.python import (
    arrays,
    builtins,
    containers,
    dynamic_attributes,
    sets,
    type_tests,
)
from .models.torch import composites, dtypes, measures, tensor_conversions, tensor_creation, tensors
from .models.torch.autograd import backward_calls, grad_calls, grad_mode, tensor_hooks
from .models.torch.autograd_function import apply
from .models.torch.nn import layer_models, module_forward, module_wrappers, modules, packed_sequences, parametrizations
from .models.torch.optim import gradient_scaling, optimizers, own_optimizers

MODELS: tuple[ModuleType, ...] = (
    apply,
    arrays,
    backward_calls,
    builtins,
    composites,
    containers,
    dtypes,
    dynamic_attributes,
    grad_calls,
    grad_mode,
    gradient_scaling,
    launchers,
    layer_models,
    measures,
    module_forward,
    module_wrappers,
    modules,
    optimizers,
    packed_sequences,
    parametrizations,
    paused_optimizers,
    sets,
    started_functions,
    tensor_conversions,
    tensor_creation,
    tensor_hooks,
    tensors,
    type_tests,
    unit_tests,
)


CHECKS = Lifecycle(
    loop_left=Topic(retention.on_loop_left, leaf_cycles.on_loop_left, evaluation_loops.on_loop_left),
    call_returned=Topic(
        retention.on_call_returned, unregistered_parameters.on_call_returned, own_optimizers.on_call_returned
    ),
    module_returned=Topic(evaluation_loops.on_module_returned, training_mode.on_module_returned),
    backward_ended=Topic(
        training_mode.on_backward_ended,
        cut_recurrences.on_backward_ended,
        dropped_detaches.on_backward_ended,
        plain_flags.on_backward_ended,
    ),
    tensors_escaped=Topic(evaluation_loops.on_escape),
    appended=Topic(overwritten_values.on_appended),
    update_bound=Topic(lost_updates.on_update_bound),
    step_repeated=Topic(
        unoptimized_parameters.on_step_repeated, other_tensors_held.on_step_repeated, wrong_parameters.on_step_repeated
    ),
    attribute_assigned=Topic(unregistered_parameters.on_attribute_assigned),
    flag_assigned=Topic(plain_flags.on_flag_assigned),
    unknown_stepped=Topic(other_tensors_held.on_unknown_stepped),
    path_ended=Topic(
        retention.on_path_ended,
        steps_without_backward.on_path_ended,
        unstepped_optimizers.on_path_ended,
        unoptimized_parameters.on_path_ended,
    ),
)
"""The checks, each with what it listens to."""
