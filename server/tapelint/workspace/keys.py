"""What reads the values of a configuration, and what is said of one that cannot be used. all_settings.py says which
setting has which kind of value.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches

from .. import __version__
from ..output_formats import FORMATS
from ..severity import Severity
from .globs import Patterns, complaint

Lines = Callable[[str], str]
"""Where a word stands, as ``":3"``; empty where that is not known."""
At = Callable[[str], str]
"""The place of a word, for the beginning of a message."""

ALL = "ALL"
"""The selector that stands for every code."""
PREFIX = "TL"
SEVERITIES: dict[str, Severity | None] = {**{severity.word: severity for severity in Severity}, "off": None}
"""What a rule can be graded as: None is not reported."""
_CODE = re.compile(r"[A-Z]{1,4}[0-9]{0,4}")


class ConfigError(Exception):
    """A configuration that cannot be used: which file, what is wrong and what would be right."""


def nowhere(word: str) -> str:
    """For values that are in no file."""
    return ""


def selectors(key: str, value: object, at: At, root: str = "") -> tuple[str, ...]:
    """A list of codes and beginnings of codes."""
    if not isinstance(value, (list, tuple)):
        raise ConfigError(f'{at(key)}: {key} must be a list of codes, as in ["TL101"], not {_kind(value)}')
    return codes(value, lambda word: f"{at(word)}: {key}")


def codes(values: Collection[object], at: At) -> tuple[str, ...]:
    """Codes and beginnings of codes, checked against the rules there are."""
    return tuple(_code(value, at) for value in values)


def _code(value: object, at: At) -> str:
    code = value.strip().upper() if isinstance(value, str) else ""
    if code == ALL:
        return PREFIX
    if _CODE.fullmatch(code) and any(known.startswith(code) for known in rules()):
        return code
    named = [known for known, name in rules().items() if isinstance(value, str) and name == value.strip().lower()]
    raise ConfigError(f"{at(str(value))}: no rule has the code {value!r}; {code_meant(code, named)}")


def code_meant(code: str, named: Collection[str] = ()) -> str:
    """What one may mean who writes a code that no rule has: ``named``, or codes that differ in one place."""
    near = named or [known for known in rules() if _differ_once(known, code)][:3]
    return f"did you mean {' or '.join(map(repr, near))}?" if near else "`tapelint rule` lists the codes"


def _differ_once(one: str, other: str) -> bool:
    return len(one) == len(other) and sum(a != b for a, b in zip(one, other, strict=True)) == 1


def per_file(key: str, value: object, at: At, root: str) -> tuple[tuple[Patterns, tuple[str, ...]], ...]:
    """A table of patterns below ``root``, with codes for each."""
    if not isinstance(value, dict):
        example = '{ "tests/*" = ["TL4"] }'
        raise ConfigError(f"{at(key)}: {key} must be a table of patterns, as in {example}, not {_kind(value)}")
    return tuple(
        (_files(_pattern(key, pattern, at, root), root), selectors(f"{key} of {pattern!r}", codes, at))
        for pattern, codes in value.items()
    )


def severities(key: str, value: object, at: At, root: str = "") -> tuple[tuple[str, Severity | None], ...]:
    """A table of codes, with a severity for each."""
    if not isinstance(value, dict):
        example = '{ TL105 = "hint" }'
        raise ConfigError(f"{at(key)}: {key} must be a table of codes, as in {example}, not {_kind(value)}")
    found = []
    for code, word in value.items():
        checked_code = _code(code, lambda word: f"{at(word)}: {key}")
        if word not in SEVERITIES:
            advice = suggestion(str(word), SEVERITIES, "the severities are")
            raise ConfigError(f"{at(code)}: {key}: {code} cannot be {word!r}; {advice}")
        found.append((checked_code, SEVERITIES[word]))
    return tuple(found)


def _files(pattern: str, root: str) -> Patterns:
    """The files that a pattern stands for by itself; after ``!`` all others."""
    return Patterns((pattern.removeprefix("!"),), root, is_rest=pattern.startswith("!"))


def patterns(key: str, value: object, at: At, root: str) -> tuple[Patterns, ...]:
    """A list of patterns below ``root``."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(entry, str) for entry in value):
        raise ConfigError(f'{at(key)}: {key} must be a list of patterns, as in ["build", "tests/*.py"]')
    if value and value[0].startswith("!"):
        reason = "there is none before it that it could take back"
        raise ConfigError(f"{at(value[0])}: {key}: {value[0]!r} is no pattern: {reason}")
    return (Patterns(tuple(_pattern(key, pattern, at, root) for pattern in value), root),)


def flag(key: str, value: object, at: At, root: str = "") -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ConfigError(f"{at(key)}: {key} must be true or false")
    return value


def file(key: str, value: object, at: At, root: str = "") -> str:
    """The path of another configuration file."""
    if not isinstance(value, str) or not value:
        raise ConfigError(f'{at(key)}: {key} must be the path of a configuration file, as in "../pyproject.toml"')
    return value


def severity(key: str, value: object, at: At, root: str = "") -> Severity:
    """One severity."""
    found = SEVERITIES.get(value) if isinstance(value, str) else None
    if found is None:
        raise ConfigError(f"{at(key)}: {key} must be error, warning, information or hint, not {value!r}")
    return found


def form(key: str, value: object, at: At, root: str = "") -> str:
    """The name of a format."""
    if not isinstance(value, str) or value not in FORMATS:
        advice = suggestion(str(value), FORMATS, "the formats are")
        raise ConfigError(f"{at(key)}: {key} cannot be {value!r}; {advice}")
    return value


def folder(key: str, value: object, at: At, root: str = "") -> str:
    """The path of a file or folder that need not exist, from ``root`` on."""
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{at(key)}: {key} must be a path")
    return os.path.join(root, expanded(value))


def expanded(path: str) -> str:
    """A path with the user's home folder for ``~``, and with environment variables."""
    return os.path.expanduser(os.path.expandvars(path))


def _pattern(key: str, pattern: str, at: At, root: str) -> str:
    reason = complaint(pattern, root)
    if reason:
        raise ConfigError(f"{at(pattern)}: {key}: {pattern!r} is no pattern: {reason}")
    return pattern


def suggestion(word: str, known: Iterable[str], otherwise: str) -> str:
    """The nearest of ``known``, and all of them."""
    choices = list(known)
    near = get_close_matches(word, choices, 1, 0.7)
    listed = f"{otherwise} {', '.join(choices)}"
    return f"did you mean {near[0]!r}? {listed[0].upper()}{listed[1:]}" if near else listed


def _kind(value: object) -> str:
    return {str: "text", bool: "a truth value", dict: "a table", list: "a list"}.get(type(value), "a number")


def rules() -> dict[str, str]:
    """The name of every code. Most configurations select nothing, and need not load the rules."""
    from ..report.topics import names_by_code  # 20 ms

    return names_by_code()


VERSIONS = r"^\s*((===?|~=|!=|<=?|>=?)?\s*[vV]?\d[^\s,]*)(\s*,\s*(===?|~=|!=|<=?|>=?)\s*[vV]?\d[^\s,]*)*\s*$"
"""What every specifier looks like. Editors check that much."""


def required_version(key: str, value: object, at: At, root: str = "") -> str:
    """A specifier as PEP 440 has it (``>=0.1,<1``), or one version, that the running tapelint fits: a pre-release
    counts as what it is.
    """
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # few configurations require a version

    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f'{at(key)}: {key} must be a version specifier, as in ">=0.1"')
    wanted = f"=={value.strip()}" if value.strip()[0] in "vV0123456789" else value.strip()
    try:
        fits = SpecifierSet(wanted).contains(__version__, prereleases=True)
    except InvalidSpecifier:
        raise ConfigError(f'{at(key)}: {key} must be a version specifier, as in ">=0.1", not {value!r}') from None
    if not fits:
        raise ConfigError(f"{at(key)}: required version `{wanted}` does not match the running version `{__version__}`")
    return value
