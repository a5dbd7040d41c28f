"""What becomes of findings in tests: a test does on purpose what a program would not, and it has been seen to pass.

    with pytest.raises(RuntimeError): ...    is no finding at all: the test catches what PyTorch raises
    losses.append(loss)                      in a loop of three rounds: an information at most
    loss.backward(); loss.backward()         what PyTorch raises for certain is an error: this test cannot pass

So is what only a test shows in other code. What the program itself, or an imagined caller, shows there is reported as
without the test.
"""

from __future__ import annotations

from dataclasses import replace

from ..ground import Ground, RunBy
from ..rules import Finding
from ..severity import Severity

TESTED = Ground("tested", "a test does this")


def graded_in_tests(found: Finding, stands_in_tests: bool) -> Finding | None:
    """A finding as it is reported where it is one of a test; None if it is not: which way an unknown test goes is up to
    fixtures and parameters, which have been seen to pass.
    """
    if not stands_in_tests and found.run_by is not RunBy.TESTS:
        return found
    if found.run_by is RunBy.TESTS and any(ground.kind == "chosen" for ground in found.rests_on):
        return None
    if stands_in_tests and _fails(found):
        return found
    return replace(found, severity=max(found.severity, Severity.INFORMATION), rests_on=(*found.rests_on, TESTED))


def _fails(found: Finding) -> bool:
    """Whether PyTorch raises for certain in code that runs, so that the test, or its import, cannot pass."""
    is_certain = found.severity is Severity.ERROR and all(ground.kind == "ordinary" for ground in found.rests_on)
    return is_certain and found.run_by is not RunBy.IMAGINED
