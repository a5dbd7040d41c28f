"""Functions that are handed to a library which calls them with what stands on the command line.

def main(lr=0.1, amp=False): ...
fire.Fire(main)                  lr is 0.1 if `--lr` is not given
app.run(main)                    absl: main is given the words of the command line
"""

from __future__ import annotations

from ...domain.state import State
from ...domain.values import Class, Function, HeapRef, Unknown, Value
from ...engine.machine import Machine
from ..torch.registry import Call, function
from .dataclass_options import called_or_made
from .option_values import of_parameters


@function("fire.Fire", "fire.core.Fire", "plac.call", "defopt.run", "clize.run", "argh.dispatch_command")
def with_options(machine: Machine, state: State, call: Call) -> Value:
    """A function is called with its options; the methods of a class have no caller that is known."""
    target = call.args[0] if call.args else call.kwargs.get("component")
    if isinstance(target, Function):
        return machine.call(state, of_parameters(target), [], {}, call.node, call.key)
    if isinstance(target, HeapRef) and isinstance(state.heap[target.id], Class):
        return called_or_made(machine, state, Call(call.name, [target], {}, call.node, call.key))
    return Unknown("command", False)


@function("absl.app.run")
def with_words(machine: Machine, state: State, call: Call) -> Value:
    main = call.get(0, "main")
    return machine.call(state, main, [Unknown("argv", False)], {}, call.node, call.key)
