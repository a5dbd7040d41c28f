"""When loops, calls, modules and paths publish to the checks."""

from __future__ import annotations

import ast

from tapelint.analysis import executed
from tapelint.autograd import Facts
from tapelint.engine.lifecycle import (
    CallReturned,
    Lifecycle,
    LoopLeft,
    ModuleReturned,
    PathEnded,
    TensorsEscaped,
    Topic,
    UpdateBound,
)
from tapelint.engine.machine import Machine
from tapelint.interpreter import CHECKS
from tapelint.semantics.evaluator import Evaluator
from tapelint.source import parse


def published(program: str) -> list[str]:
    """What a program publishes, in order."""
    found: list[str] = []

    def loop_left(_: Machine, event: LoopLeft) -> None:
        found.append(f"loop left after {event.state.iterations[-1].number}")

    def call_returned(_: Machine, event: CallReturned) -> None:
        found.append(f"{ast.unparse(event.call)} returned")

    def module_returned(_: Machine, event: ModuleReturned) -> None:
        found.append(f"module returned from {ast.unparse(event.call)}")

    def escaped(_: Machine, event: TensorsEscaped) -> None:
        found.append(f"{len(event.tensors)} tensors escaped")

    def update_bound(_: Machine, event: UpdateBound) -> None:
        found.append(f"update bound to {event.name}")

    def path_ended(_: Machine, event: PathEnded) -> None:
        found.append("script ended" if event.result is None else "function ended")

    lifecycle = Lifecycle(
        loop_left=Topic(loop_left),
        call_returned=Topic(call_returned),
        module_returned=Topic(module_returned),
        tensors_escaped=Topic(escaped),
        update_bound=Topic(update_bound),
        path_ended=Topic(path_ended),
    )
    executed(Evaluator(Facts(), parse(f"import torch\n{program}", "program.py").tree, lifecycle))
    return found


def test_a_loop_is_left_when_it_ends_and_when_it_is_broken_off() -> None:
    assert published("for i in range(2): pass") == ["loop left after 2", "script ended"]
    assert published("for i in range(9):\n    break") == ["loop left after 1", "script ended"]


def test_a_loop_that_does_not_run_is_not_left() -> None:
    assert published("for i in []: pass") == ["script ended"]


def test_calls_return_from_the_inside_out() -> None:
    program = "def f(x): return g(x)\ndef g(x): return x\nf(1)"
    assert published(program) == ["g(x) returned", "f(1) returned", "script ended"]


def test_a_module_returns_after_its_forward() -> None:
    program = (
        "class Net(torch.nn.Module):\n    def forward(self, x): return x.exp()\n"
        "net = Net()\nnet(torch.ones(3, requires_grad=True))"
    )
    call = "net(torch.ones(3, requires_grad=True))"
    assert published(program) == [f"{call} returned", f"module returned from {call}", "script ended"]


def test_tensors_escape_to_unknown_code() -> None:
    assert published("import lib\nlib.f(torch.ones(3), torch.ones(3))") == ["2 tensors escaped", "script ended"]


def test_an_update_by_hand_is_bound() -> None:
    program = (
        "w = torch.ones(3, requires_grad=True)\nw.sum().backward()\nwith torch.no_grad():\n    w = w - 0.1 * w.grad"
    )
    assert published(program) == ["update bound to w", "script ended"]


def test_a_function_without_a_caller_ends_after_the_script() -> None:
    found = published("def train(x): return x.exp()")
    assert [each for each in found if each.endswith("ended")] == ["script ended", "function ended"]


def test_what_a_loop_retained_is_noted_before_its_evaluation_graphs_are_forgotten() -> None:
    checks = [listener.__module__.rpartition(".")[2] for listener in CHECKS.loop_left.listeners]
    assert checks.index("retention") < checks.index("evaluation_loops")
