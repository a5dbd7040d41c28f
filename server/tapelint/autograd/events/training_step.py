"""What happens to gradients in a training step, published to the rules: clipped, used by a step, looked for without
success.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable
from typing import Literal

from ...frozen import frozen
from ..gradients.history import Clearing, Group, Idle, Pass
from ..model.cuts import Cut
from ..model.graph import Node
from ..model.program_point import ProgramPoint
from .graph_walks import Event, SilentEvent

WhyUnoptimized = Literal["hidden", "plain", "later", "frozen"]
"""The parameters are in a plain container, or a tensor is no Parameter, or they were made after the optimizer."""


@frozen(eq=False, kw_only=True)
class RequiresGradSet(SilentEvent):
    """The program has changed whether a leaf requires grad."""

    tensor: int
    # What it was, and what it is now; None where that is not known.
    before: bool | None
    wanted: bool | None


@frozen(eq=False, kw_only=True)
class OptimizerStepped(SilentEvent):
    """An optimizer used the gradients of the leaves it holds."""

    # How the optimizer is written in the program.
    optimizer: ast.expr | None
    # All of its leaves.
    held: tuple[int, ...]
    # What the gradients were just before.
    past: tuple[Group, ...]
    # The passes since its last step that were cleared before any code used anything of them.
    lost: tuple[tuple[Clearing, Pass], ...]
    # The passes that another optimizer's step had used already, for leaves it reached through these.
    leaked: tuple[tuple[Pass, ProgramPoint], ...]
    # The scaler that made the step.
    scaler: ast.expr | None
    # The assumed conditions on which it depends what is cleared and stepped.
    premises: frozenset[Hashable]
    # When code that was not read may have gone backward for the last time; 0 if there was none.
    unread: int = 0


@frozen(eq=False, kw_only=True)
class ScaledStep(SilentEvent):
    """The scaler of mixed precision made a step with an optimizer of which it is not known what it holds."""

    optimizer: ast.expr
    scaler: ast.expr
    # All gradients that were clipped while they were scaled.
    past: tuple[Group, ...]


ScalerMethod = Literal["unscale_", "step", "update"]


@frozen(eq=False, kw_only=True)
class ScalerMisused(Event):
    """The scaler of mixed precision was asked for what it refuses: it unscales and steps once for each optimizer until
    its `update()`, which needs one of them before.
    """

    asked: ScalerMethod
    # What it has done for that optimizer since, and where; None where `update()` finds that it has done nothing.
    done: ScalerMethod | None
    before: ProgramPoint | None
    # What PyTorch says.
    error: str
    # The scaler, as the program writes it.
    scaler: ast.expr | None


@frozen(eq=False, kw_only=True)
class GradientsClipped(SilentEvent):
    """Gradients were scaled down."""

    # What they were just before.
    past: tuple[Group, ...]
    # What they were clipped to, if known.
    limit: float | None
    # Whether the norm, which it returns, is used.
    is_read: bool
    # The assumed conditions on which it depends what is cleared and stepped.
    premises: frozenset[Hashable]

    @property
    def only_measures(self) -> bool:
        """Whether no gradient is expected to reach the limit: the norm is what is wanted."""
        return self.limit is not None and self.limit >= 1e5


@frozen(eq=False, kw_only=True)
class StepMissed(SilentEvent):
    """A backward gave leaves their first gradient, after a step that had looked for one."""

    step: Idle
    leaves: tuple[int, ...]
    # The assumed conditions on which it depends what is cleared and stepped.
    premises: frozenset[Hashable]
    # Whether no other step has followed when the program, or a function without a caller, ends: the gradients were
    # cleared before that one.
    is_last: bool = False


@frozen(eq=False, kw_only=True)
class EvaluationRecorded(SilentEvent):
    """A network in evaluation mode, or in a script that trains nothing, recorded a graph in every iteration of a loop
    that has ended, and no code walks it.
    """

    loop: ast.AST
    # How many nodes the graph of one iteration has; 0 where the code of the network is not known.
    nodes: int
    # What the program calls the network.
    network: str
    # Whether `eval()` was called on it.
    in_evaluation: bool = True


@frozen(eq=False, kw_only=True)
class StepWithoutBackward(SilentEvent):
    """An optimizer has stepped, and nothing has gone backward, though a graph of all that it holds was recorded.
    ``point`` is the step.
    """

    leaves: tuple[int, ...]
    # The end of that graph, which no code can reach any more.
    loss: Node
    # Whether it is in a function without a caller, which might go backward before.
    called: bool


@frozen(eq=False, kw_only=True)
class StepLeftOut(SilentEvent):
    """Gradients were computed for leaves of an optimizer that never steps, while another one does, or were cleared."""

    leaves: tuple[int, ...]
    # The last pass that has computed some.
    run: Pass
    # Where they were cleared last.
    clearing: Clearing | None
    # Where the optimizer was made.
    built: ast.AST | None


@frozen(eq=False, kw_only=True)
class TrainedInEvaluation(SilentEvent):
    """A backward walked what a network in evaluation mode has computed, at a call that it computed in training mode in
    an earlier iteration. ``point`` is where the mode was set.
    """

    # The call, now and when it was in training mode.
    now: ProgramPoint
    before: ProgramPoint
    # What computes something else in evaluation mode, by its class: a layer ("nn.Dropout"), or a network of the program
    # that asks for its mode. None where the code of the network is not known.
    layer: str | None


@frozen(eq=False, kw_only=True)
class EvaluationUndone(SilentEvent):
    """A frozen part that was set to evaluation mode, at ``point``, ran in training mode: ``train()`` of what holds it
    came before each of its calls.
    """

    undone_at: ProgramPoint
    now: ProgramPoint
    # As of ``TrainedInEvaluation``.
    layer: str | None


@frozen(eq=False, kw_only=True)
class NeverReached(SilentEvent):
    """An optimizer has stepped in several iterations, and no backward has ever reached some leaves that it holds, or
    none has since they were ``frozen``.
    """

    optimizer: ast.expr | None
    leaves: tuple[int, ...]
    # Where the graph that leads to them was cut. Without one they are all that the optimizer holds, and there have been
    # backward passes, the last at ``reached``; the first of them was ``made``.
    cut: Cut | None
    made: ProgramPoint | None = None
    reached: ProgramPoint | None = None
    frozen: ProgramPoint | None = None


@frozen(eq=False, kw_only=True)
class NeverStepped(SilentEvent):
    """Backward passes reach parameters of a network, and no optimizer holds them, though one holds all the others."""

    # The optimizer that steps, as it is written in the program.
    optimizer: ast.expr | None
    # Where it was made.
    built: ast.AST | None
    leaves: tuple[int, ...]
    why: WhyUnoptimized
    # The target of the assignment that keeps them.
    attribute: ast.expr | None
    # What was assigned there.
    value: ast.AST
    # What of ``torch.nn`` would have registered them.
    wrapper: str | None


@frozen(eq=False, kw_only=True)
class UpdateDropped(SilentEvent):
    """A new value was computed from a leaf, and bound to a loop's variable that no code reads before the loop binds it
    again: the leaf stays what it was. ``point`` is the statement's.
    """

    leaf: int
    # The variable.
    name: str
    loop: ast.AST


@frozen(eq=False, kw_only=True)
class OtherTensorHeld(SilentEvent):
    """An optimizer steps and finds no gradient in a leaf that it holds: backward passes reach another one in its
    place.
    """

    # How the optimizer is written in the program.
    optimizer: ast.expr | None
    held: int
    used: int
    # Whether ``held`` is a Parameter made of ``used``, or ``used`` has taken the name of ``held``, which the optimizer
    # was given before.
    how: Literal["copied", "replaced"]
    # Where ``held`` was made of ``used``, or ``used`` of ``held``.
    made: ProgramPoint
    # The last backward that reached ``used``.
    reached: ProgramPoint
    # Where the optimizer was made, if that is known.
    built: ast.AST | None = None


@frozen(eq=False, kw_only=True)
class OthersTrained(SilentEvent):
    """An optimizer is good for nothing, and backward passes reach parameters that no optimizer holds. ``point`` is a
    step in a later iteration.
    """

    # The last step of that optimizer, and where it was made.
    step: ProgramPoint
    built: ast.AST | None
    # The parameters that no optimizer holds.
    leaves: tuple[int, ...]
    # The last backward that reached them.
    reached: ProgramPoint
    # Whether another optimizer holds and steps the same parameters; otherwise the step finds no gradient that is new.
    holds_the_same: bool
    # Those parameters of the optimizer that no backward reaches, where one does reach others.
    idle: tuple[int, ...] = ()
