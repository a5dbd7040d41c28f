"""What the engine keeps of an object beside the attributes that the program gave it.

A facet stands among the object's attributes, so that forks, joins and reachability treat it as they treat these. Its
name is no identifier: no program can spell it, and ``vars``, ``dir`` and stories leave it out (``is_facet``).
"""

from __future__ import annotations

# Modules

# The names that hold parameters besides those whose tensors are ``nn.Parameter`` objects.
PARAMETER_NAMES = "(registered)"
# The names that hold buffers.
BUFFER_NAMES = "(buffers)"
# The names that hold what a module does not register, since ``object.__setattr__`` has set it.
UNREGISTERED_NAMES = "(not registered)"
# The list or dict of a class derived from a container of modules.
CONTAINER = "(items)"
# The tensor that stands for all parameters of a network whose layers are not accessed.
UNSEEN_PARAMETERS = "(parameters)"
# Set for a network whose ``__init__`` was left because it takes too much: its own methods have nothing to work with.
UNBUILT = "(unbuilt)"
# The parameters of a layer that has only one tensor for all of them.
ALL_PARAMETERS = "(all parameters)"
# Why an unknown object is taken for a network.
ASSUMED_NETWORK = "(guessed)"
# Which parameters are computed from others, and how.
PARAMETRIZED = "(parametrized)"
# The mode that an unknown value was set to, if it is a network.
TRAINING = "(training)"
# What a scaler has done for each optimizer since its last ``update()``.
SCALER_STAGES = "(stages)"
# What ``requires_grad_`` has set an unknown value to.
REQUIRES_GRAD = "(requires_grad)"
# The network that an unknown value was taken for.
NETWORK = "(network)"
# What an unknown ``__init__`` was given.
GIVEN = "(given)"
# The functions of the program that an unknown object has.
CALLBACKS = "(callbacks)"

# Optimizers and frameworks

# What an object of a class derived from ``torch.optim.Optimizer`` was given to update.
OPTIMIZED = "(optimizer)"
# What ``configure_optimizers`` has returned to the framework.
CONFIGURED_OPTIMIZERS = "(optimizers)"
# The parameters that ``toggle_optimizer`` has frozen until ``untoggle_optimizer``.
TOGGLED_OFF = "(toggled)"
# The optimizers that a launcher has prepared.
PREPARED = "(prepared)"

# Parsers of options, and commands

# What the options of a parser are where they are not given.
OPTIONS = "(options)"
# Contexts of ``autograd.Function``

# The class of the ``Function``.
FUNCTION = "(function)"
# What ``save_for_backward`` has saved.
SAVED = "(saved)"
# The tensors that ``save_for_backward`` was given, each with the version it had then.
ASKED = "(asked)"
# What ``mark_dirty`` has named.
DIRTY = "(dirty)"
# What ``mark_non_differentiable`` has named.
CONSTANT = "(constant)"
# Set by ``set_materialize_grads(False)``.
SPARSE = "(sparse)"

# Distributions

# The ``loc`` of a distribution.
LOCATION = "(loc)"
# The other tensors that a distribution was made of.
OTHER_PARAMETERS = "(other parameters)"


def doubted(name: str) -> str:
    """The facet of an object whose attribute ``name`` only some of the paths had set that were joined: it may not be
    there.
    """
    return f"({name}?)"


def item(key: str) -> str:
    """The facet of an unknown object that is what the program has put into it under ``key``."""
    return f"[{key}]"


def is_item(name: str) -> bool:
    return name.startswith("[")


def is_doubt(name: str) -> bool:
    """Whether a facet says that an attribute may not be there."""
    return name.startswith("(") and name.endswith("?)")


def is_facet(name: str) -> bool:
    """Whether an attribute is kept by the engine and was not given by the program: no program can spell its name."""
    return not name.isidentifier()
