"""How many findings of each rule there are, and how many of them ``--fix`` cures (``--statistics``); how many it has
cured (``--show-fixes``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..headline import number_of


@dataclass(slots=True)
class Count:
    """The findings of one rule."""

    code: str
    name: str
    count: int = 0
    fixable: bool = False
    fixable_count: int = 0

    @property
    def mark(self) -> str:
        """All, some or none of them can be fixed."""
        return "[*]" if self.fixable_count == self.count else "[-]" if self.fixable_count else "[ ]"


def counts(found: Iterable[Mapping[str, Any]], is_unsafe: bool) -> list[Count]:
    """The counts of findings, each as JSON has it, the most frequent first; with ``is_unsafe`` any fix counts that is
    not to be chosen by hand.
    """
    by_code: dict[str, Count] = {}
    wanted = ("safe", "unsafe") if is_unsafe else ("safe",)
    for each in found:
        count = by_code.setdefault(each["code"], Count(each["code"], each["name"]))
        count.count += 1
        count.fixable_count += any(_is_made(fix, each["filename"], wanted) for fix in each["fixes"])
        count.fixable = count.fixable_count > 0
    return sorted(by_code.values(), key=lambda count: (-count.count, count.code))


def _is_made(fix: Mapping[str, Any], filename: str, wanted: Sequence[str]) -> bool:
    """Whether ``--fix`` makes it unasked: it leaves other files to their own check."""
    is_own = all(edit["filename"] == filename for edit in fix["edits"])
    return fix["applicability"] in wanted and not fix["manual"] and is_own


def as_text(found: list[Count]) -> str:
    """A row for each rule, and a sentence with the sums; empty where there is nothing."""
    width = max((len(str(count.count)) for count in found), default=0)
    can = any(count.fixable for count in found)
    rows = [f"{count.count:>{width}}\t{count.code}\t{f'{count.mark} ' if can else ''}{count.name}" for count in found]
    return "\n".join(rows)


def as_json(found: list[Count]) -> str:
    """The same as a list of objects."""
    return json.dumps([asdict(count) for count in found], indent=2)


def fixes_listed(fixed: Mapping[str, Counter[tuple[str, str]]]) -> str:
    """How many findings of each rule were fixed, by the name of the file and the code and name of the rule."""
    total = sum(each.total() for each in fixed.values())
    width = len(str(max(max(each.values()) for each in fixed.values())))
    rows = [f"Fixed {number_of(total, 'finding')}:"]
    for name in sorted(fixed):
        rows.append(f"- {name}:")
        rows += (f"    {count:>{width}} × {code} ({rule})" for (code, rule), count in fixed[name].most_common())
    return "\n".join(rows)
