"""Findings for other tools that read lines or XML, each in the form that ruff prints for them.

train.py:4: [TL201] Writes `y` in place, which `exp` saved for backward                                       pylint
##vso[task.logissue type=error;sourcepath=train.py;linenumber=4;columnnumber=1;code=TL201;]Writes ...         azure

train.py:                                                                                                     grouped
  4:1 TL201 [*] Writes `y` in place, which `exp` saved for backward

<testsuites name="tapelint" ...><testsuite name="train.py" ...><testcase name="org.tapelint.TL201" ...>       junit
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from os.path import splitext
from xml.etree import ElementTree

from ..frozen import frozen
from ..severity import Severity
from .diagnostic import Diagnostic, Offer
from .printable import printable

_PACKAGE = "org.tapelint"


@frozen
class Remark:
    """A finding, or what was not seen of a file (``is_unseen``), as far as these tools care."""

    filename: str
    row: int
    column: int
    code: str
    message: str
    severity: Severity
    is_fixable: bool = False
    is_unseen: bool = False

    @property
    def outcome(self) -> str:
        """What it is among the results of tests: a hint fails nothing."""
        return "skipped" if self.severity is Severity.HINT else "error" if self.is_unseen else "failure"


def remark(diagnostic: Diagnostic, offer: Offer | None = None) -> Remark:
    """A finding with what is offered; a notice with None."""
    return Remark(
        diagnostic.filename,
        diagnostic.span.row,
        diagnostic.span.column,
        diagnostic.code,
        printable(diagnostic.message),
        diagnostic.severity,
        is_fixable=offer is not None and any(fix.applicability == "safe" for fix in offer.fixes),
        is_unseen=offer is None,
    )


def pylint(remarks: Iterable[Remark], failures: Sequence[str] = ()) -> str:
    """One line each."""
    return "\n".join(f"{printable(each.filename)}:{each.row}: [{each.code}] {each.message}" for each in remarks)


def azure(remarks: Iterable[Remark], failures: Sequence[str] = ()) -> str:
    """Logging commands of Azure Pipelines, which know errors and warnings; ``failures`` are about no file's row."""
    rows = [f"##vso[task.logissue type=error;]{_command(message)}" for message in failures]
    for each in remarks:
        kind = "error" if each.severity is Severity.ERROR else "warning"
        place = f"sourcepath={_property(each.filename)};linenumber={each.row};columnnumber={each.column}"
        rows.append(f"##vso[task.logissue type={kind};{place};code={each.code};]{_command(each.message)}")
    return "\n".join(rows)


def _command(text: str) -> str:
    """Text of a logging command."""
    return text.replace("%", "%AZP25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _command(text).replace(";", "%3B").replace("]", "%5D")


def grouped(remarks: Iterable[Remark], failures: Sequence[str] = ()) -> str:
    """The findings of each file below its name; rows and columns are aligned."""
    blocks: list[str] = []
    for name, group in groupby(remarks, attrgetter("filename")):
        found = list(group)
        rows, columns = (max(len(str(getattr(each, part))) for each in found) for part in ("row", "column"))
        blocks.append(f"{printable(name)}:")
        for each in found:
            fixable = "[*] " if each.is_fixable else ""
            blocks.append(f"  {each.row:>{rows}}:{each.column:<{columns}} {each.code} {fixable}{each.message}")
        blocks.append("")
    return "\n".join(blocks)


def junit(remarks: Sequence[Remark], failures: Sequence[str] = ()) -> str:
    """A suite for each file, a case for each finding; what was not seen, and ``failures``, are errors."""
    root = ElementTree.Element("testsuites", name="tapelint")
    for name, group in groupby(remarks, attrgetter("filename")):
        found = list(group)
        suite = _suite(root, name, Counter(each.outcome for each in found))
        for each in found:
            case = _case(suite, f"{_PACKAGE}.{each.code}", splitext(name)[0])
            case.attrib |= {"line": str(each.row), "column": str(each.column)}
            text = ElementTree.SubElement(case, each.outcome, message=_xml(each.message))
            text.text = _xml(f"line {each.row}, col {each.column}, {each.message}")
    if failures:
        suite = _suite(root, "tapelint", Counter(error=len(failures)))
        for message in failures:
            ElementTree.SubElement(_case(suite, "run", "tapelint"), "error", message=_xml(message))
    if not remarks and not failures:
        _case(_suite(root, "tapelint", Counter(passed=1)), "No errors found", "tapelint")
    for part in ("tests", "failures", "errors"):
        root.attrib[part] = str(sum(int(suite.attrib[part]) for suite in root))
    ElementTree.indent(root, "    ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _suite(root: ElementTree.Element, name: str, outcomes: Counter[str]) -> ElementTree.Element:
    counts = {
        "tests": outcomes.total(),
        "disabled": outcomes["skipped"],
        "errors": outcomes["error"],
        "failures": outcomes["failure"],
    }
    numbers = {key: str(count) for key, count in counts.items()}
    return ElementTree.SubElement(root, "testsuite", {"name": _xml(name), **numbers, "package": _PACKAGE})


def _case(suite: ElementTree.Element, name: str, of: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", {"name": name, "classname": _xml(of)})


def _xml(text: str) -> str:
    """Text that XML can hold: no control characters, no halves of characters."""
    return printable(text).encode("utf-8", "replace").decode()
