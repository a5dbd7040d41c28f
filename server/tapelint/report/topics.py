"""The pages of notices: what each code in the TL91 family tells, in the form of a rule, so that codes are looked up,
selected and described as those of rules are. None of them judges anything.
"""

from __future__ import annotations

from functools import cache

from ..rules import Rule, all_rules
from .notice import Kind

_NOT_ANALYSED = """
## What it says
Says that a file was not analysed at all: it cannot be read or is no text, it has so many syntax errors that nothing
could be made of it, it is larger than 1.5 million characters or 60,000 lines, or nested too deeply for Python's own
parser. The exit status of the command line is then 2.

## What to do
Mend the file, or leave it out with `exclude`. No comment silences this.
"""
_FOLLOWED_IN_PART = """
## What it says
Says that tapelint has not executed all of a file. An entry point (the script, or a function that nothing in the file
calls) is given up when its budget is spent: 40,000 evaluated expressions for the script, 10,000 for a function, 30,000
for all functions together. Its first part was executed and judged; what comes after was not. Functions for which
nothing was left, or whose object could not be made, were not followed at all. A statement that is nested more than 120
levels deep is left out.

So where nothing was found in such a file, nothing was found *in what was executed*. What it found is as true as
elsewhere. The exit status of the command line does not change.

## What to do
Nothing has to be done. `tapelint check --stats` names the entry points at a terminal; programs that read the output can
do without by `--ignore TL911`. Functions that reach `backward` are followed first, and less is cut in smaller files.
"""
_INTERNAL_ERROR = """
## What it says
Says that tapelint itself has failed, where, and which entry point, rule or fix that has cost; everything else was
checked. The exit status of the command line is then 2.

## What to do
Report it, with the line that names the exception and the place in tapelint, and if possible with the function it is
about. The log of the language server has the traceback.
"""
_PARSED_IN_PART = """
## What it says
Says that a file has syntax errors. The statements around them were left out, and the names they mention are unknown;
the rest was checked. For the exit status of the command line that is something found: 1.

## What to do
Mend the syntax. tapelint parses with the Python that runs it: syntax that is newer than that is an error to it.
"""
_ENDED = """
## What it says
Says that the program ends at a line with an error that no rule is about: PyTorch raises there, whatever the tests
before it give, and nothing in the program catches that. `len(loss)` is a TypeError, for instance. What comes after it
is not executed, so a hazard there is not seen; functions that nothing has called by then were tried out by themselves.
`loss.data[0]` is an IndexError since PyTorch 0.5, and is followed as the number that it was before. For the exit status
of the command line that is something found: 1.

## What to do
Cure it first, and check again. No comment silences this; `--ignore TL914` does.
"""
_SUMMARIES = {
    Kind.NOT_ANALYSED: ("a file was not analysed", _NOT_ANALYSED),
    Kind.FOLLOWED_IN_PART: ("not all of a file was executed", _FOLLOWED_IN_PART),
    Kind.ENDED: ("the program raises, and what comes after was not seen", _ENDED),
    Kind.FAULT: ("tapelint itself has failed", _INTERNAL_ERROR),
    Kind.PARSED_IN_PART: ("a file has syntax errors, and was checked without these statements", _PARSED_IN_PART),
}


@cache
def all_topics() -> tuple[Rule, ...]:
    """What notices can be about, by code."""
    return tuple(_topic(kind, *texts) for kind, texts in _SUMMARIES.items())


def names_by_code() -> dict[str, str]:
    """The names of all rules and notices, by code."""
    return {rule.code: rule.name for rule in sorted([*all_rules(), *all_topics()], key=lambda rule: rule.code)}


def _topic(kind: Kind, summary: str, docs: str) -> Rule:
    code, name, severity = kind.described
    return Rule(code, name, summary, docs, notice=severity)
