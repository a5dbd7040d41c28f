"""The JSON schema of a configuration: what editors complete and check a tapelint.toml with.

It says what the check says (keys.py), but for patterns that only a look at the disk or at their brackets tells to be
none: those it takes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from . import keys
from .all_settings import SETTINGS

_LEAVES = r"(^|/)\.\.(/|$)"
_BRACES = r"(^|[^\\])\{[^{}]*,[^{}]*\}"
_NOTHING = r"^!?(#.*|\s*/*\s*|\./*)$"
_UNFINISHED = r"(^|[^\\])(\\\\)*\\$"


def schema() -> dict[str, object]:
    """The schema, of draft 7, as values that JSON can hold."""
    properties = {
        key: {
            "description": setting.doc,
            **setting.kind.schema,
            **({"default": setting.default == "true"} if setting.default in ("true", "false") else {}),
        }
        for key, setting in SETTINGS.items()
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "tapelint",
        "description": "Settings of tapelint, in a tapelint.toml or in [tool.tapelint] of a pyproject.toml.",
        "type": "object",
        "additionalProperties": False,
        "properties": dict(sorted(properties.items())),
        "definitions": {
            "RuleSelector": _selector(keys.rules()),
            "FilePattern": {
                "description": "A pattern as in ignore files.",
                "type": "string",
                "not": {"anyOf": [{"pattern": each} for each in (_LEAVES, _BRACES, _NOTHING, _UNFINISHED)]},
            },
            "Severity": {"enum": list(keys.SEVERITIES)},
        },
    }


def _selector(rules: Mapping[str, str]) -> dict[str, object]:
    """A code or the beginning of one. Those that one writes are listed; others (``tl1``) are valid all the same."""
    known = sorted({code[:length] for code in rules for length in range(1, len(code) + 1)})
    written = [keys.ALL, *(code for code in known if code.startswith(keys.PREFIX))]
    either_case = "|".join(_either_case(code) for code in (keys.ALL, *known))
    return {
        "description": "The code of a rule, or its beginning.",
        "type": "string",
        "anyOf": [{"enum": written}, {"pattern": rf"^\s*({either_case})\s*$"}],
    }


def _either_case(code: str) -> str:
    return re.sub("[A-Z]", lambda found: f"[{found[0]}{found[0].lower()}]", code)
