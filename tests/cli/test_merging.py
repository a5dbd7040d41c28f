"""Of several reports of one hazard one is printed, whichever files were checked first."""

from __future__ import annotations

from itertools import permutations

from tapelint.cli.merging import Merged
from tapelint.cli.task import FileResult, Found
from tapelint.report import Diagnostic, Related
from tapelint.severity import Severity
from tapelint.source import Span

FIX = {"title": "Detach"}


def found(by: str, severity: Severity, row: int = 3, *, latent: bool = False, fixes: tuple[object, ...] = ()) -> Found:
    """The report of TL101 in helper.py that the analysis of the file ``by`` makes."""
    span, is_own = Span(row, 1, row, 9), by == "helper.py"
    story = (Related("This call leads here", by, Span(1, 1, 1, 2)),)
    diagnostic = Diagnostic("TL101", "n", severity, by, "helper.py", span, story, is_latent=latent)
    return Found(diagnostic, {"by": by, "fixes": [*fixes]}, {"fixes": [*fixes]}, "y.backward()", is_own)


def printed(results: list[FileResult], output_format: str = "json") -> list[tuple[Found | None, object]]:
    merged = Merged()
    for result in results:
        merged.add(result)
    return [*merged.printed(output_format)]


def test_the_gravest_report_counts_and_offers_the_fixes_of_its_own_file() -> None:
    own = FileResult("helper.py", [found("helper.py", Severity.WARNING, latent=True, fixes=(FIX,))])
    user = FileResult("train.py", [found("train.py", Severity.ERROR)])
    for results in permutations([own, user, FileResult("test.py", [found("test.py", Severity.ERROR)])]):
        ((best, text),) = printed([*results])
        assert best is not None and best.diagnostic.severity is Severity.ERROR
        assert text == {"by": "test.py", "fixes": [FIX]}


def test_of_equally_grave_ones_a_real_caller_counts_before_an_imagined_one() -> None:
    own = FileResult("helper.py", [found("helper.py", Severity.WARNING, latent=True)])
    user = FileResult("train.py", [found("train.py", Severity.WARNING)])
    ((_, text),) = printed([own, user])
    assert text == {"by": "train.py", "fixes": []}


def test_and_then_the_file_itself() -> None:
    own = FileResult("helper.py", [found("helper.py", Severity.WARNING)])
    user = FileResult("a.py", [found("a.py", Severity.WARNING)])
    ((_, text),) = printed([user, own])
    assert text == {"by": "helper.py", "fixes": []}


def test_findings_stand_among_those_of_their_file() -> None:
    own = FileResult("helper.py", [found("helper.py", Severity.WARNING, 9)], ["what was not seen of it"])
    user = FileResult("train.py", [found("train.py", Severity.HINT, 2)], ["another notice"])
    said = [text if isinstance(text, str) else text["by"] for _, text in printed([own, user])]
    assert said == ["train.py", "helper.py", "what was not seen of it", "another notice"]


def test_fingerprints_of_a_file_differ_whichever_run_has_found_it() -> None:
    own = FileResult("helper.py", [found("helper.py", Severity.WARNING, 9)])
    user = FileResult("train.py", [found("train.py", Severity.ERROR, 2)])
    entries = [entry for _, entry in printed([user, own], "gitlab")]
    assert len({entry["fingerprint"] for entry in entries}) == 2
