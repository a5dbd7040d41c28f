"""Functions that are handed to a library which calls them with what stands on the command line.

def main(lr=0.1, amp=False): ...
fire.Fire(main)                  lr is 0.1 if `--lr` is not given
app.run(main)                    absl: main is given the words of the command line
"""

from __future__ import annotations

from ...domain.state import State
from ...domain.values import Function, Unknown, Value
from ...engine.machine import Machine
from ..torch.registry import Call, function
from .option_values import of_parameters


@function(
    *("fire.Fire", "fire.core.Fire", "plac.call", "defopt.run", "clize.run", "argh.dispatch_command"),
    *("tyro.cli", "typer.run", "jsonargparse.CLI", "jsonargparse.auto_cli"),
)
def with_options(machine: Machine, state: State, call: Call) -> Value:
    """A function is called with its options; what is made of a class is not known."""
    target = call.get(0, "component")
    if isinstance(target, Function):
        return machine.call(state, of_parameters(target), [], {}, call.node, call.key)
    return Unknown("command", False)


@function("absl.app.run")
def with_words(machine: Machine, state: State, call: Call) -> Value:
    main = call.get(0, "main")
    return machine.call(state, main, [Unknown("argv", False)], {}, call.node, call.key)
