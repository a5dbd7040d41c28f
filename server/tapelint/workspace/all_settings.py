"""All settings of a configuration: what each may hold, what it is for, and what holds without it.

This one table checks configurations, writes their JSON schema, the page of settings and what
``tapelint config`` prints.

>>> checked({"selct": ["TL1"]}, lambda word: "pyproject.toml:3")
Traceback (most recent call last):
...
tapelint.workspace.keys.ConfigError: pyproject.toml:3: unknown key 'selct'; did you mean 'select'? ...

The JSON schema of a configuration: what editors complete and check a tapelint.toml with.

It says what the check says (keys.py), but for patterns that only a look at the disk or at their brackets tells to be
none: those it takes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..frozen import frozen
from ..output_formats import FORMATS
from . import keys
from .files import EXCLUDED
from .keys import VERSIONS, At, ConfigError, required_version


@frozen
class Kind:
    """What values a setting may have: ``name`` for readers, ``schema`` for editors (``#/definitions/...`` are those of
    below), ``read`` for the check: the value of the field of a Config, or a ConfigError.
    """

    name: str
    schema: Mapping[str, object]
    read: Callable[[str, object, At, str], object]


@frozen
class Setting:
    """One key. ``default`` is what holds without it and ``example`` a use of it, both as TOML has them; ``doc`` is
    Markdown.
    """

    kind: Kind
    doc: str
    example: str
    default: str


def _reference(name: str) -> Mapping[str, object]:
    return {"$ref": f"#/definitions/{name}"}


SELECTORS = Kind("list[RuleSelector]", {"type": "array", "items": _reference("RuleSelector")}, keys.selectors)
_TAKES_BACK_FIRST = {"minItems": 1, "items": [{"type": "string", "pattern": "^!"}]}
_PATTERNS = Kind(
    "list[FilePattern]",
    {"type": "array", "items": _reference("FilePattern"), "not": _TAKES_BACK_FIRST},
    keys.patterns,
)
_PER_FILE = Kind(
    "dict[FilePattern, list[RuleSelector]]",
    {
        "type": "object",
        "propertyNames": _reference("FilePattern"),
        "additionalProperties": {"type": "array", "items": _reference("RuleSelector")},
    },
    keys.per_file,
)
_SEVERITIES = Kind(
    'dict[RuleSelector, "error" | "warning" | "information" | "hint" | "off"]',
    {
        "type": "object",
        "propertyNames": _reference("RuleSelector"),
        "additionalProperties": _reference("Severity"),
    },
    keys.severities,
)
_FLAG = Kind("bool", {"type": "boolean"}, keys.flag)
_FILE = Kind("str", {"type": "string", "minLength": 1}, keys.file)
_LEVEL = Kind(
    '"error" | "warning" | "information" | "hint"',
    {"enum": ["error", "warning", "information", "hint"]},
    keys.severity,
)
_FORMAT = Kind(" | ".join(map(json.dumps, FORMATS)), {"enum": list(FORMATS)}, keys.form)
_VERSIONS = Kind("str", {"type": "string", "pattern": VERSIONS}, required_version)
REQUIRED = "required-version"
_PLACE = Kind("str", {"type": "string", "minLength": 1}, keys.folder)

SETTINGS: dict[str, Setting] = {
    "select": Setting(
        SELECTORS,
        "The rules that are reported, as codes or beginnings of codes; `ALL` is every rule. Where `select` and "
        "`ignore` both match, the longer one wins, and `ignore` where they are the same.",
        'select = ["TL1", "TL201"]',
        "all rules that are on by default",
    ),
    "extend-select": Setting(
        SELECTORS,
        "Rules that are reported in addition to those of `select`. This turns on a rule that is off by default.",
        'extend-select = ["TL207"]',
        "[]",
    ),
    "ignore": Setting(
        SELECTORS, "Rules that are not reported, as codes or beginnings of codes.", 'ignore = ["TL103"]', "[]"
    ),
    "extend-ignore": Setting(
        SELECTORS, "Rules that are not reported, in addition to those of `ignore`.", 'extend-ignore = ["TL103"]', "[]"
    ),
    "per-file-ignores": Setting(
        _PER_FILE,
        "Rules that are not reported in the files that a pattern matches; after `!`, in all files that it does not "
        "match. Holds whatever is selected.",
        '[per-file-ignores]\n"tests/*" = ["TL4"]',
        "{}",
    ),
    "extend-per-file-ignores": Setting(
        _PER_FILE,
        "Rules that are not reported in the files that a pattern matches, in addition to those of `per-file-ignores`.",
        '[extend-per-file-ignores]\n"tests/*" = ["TL4"]',
        "{}",
    ),
    "fixable": Setting(
        SELECTORS,
        "The rules whose findings can be fixed, as codes or beginnings of codes; of others no fix is offered. Where "
        "`fixable` and `unfixable` both match, the longer one wins, and `unfixable` where they are the same.",
        'fixable = ["TL1", "TL201"]',
        '["ALL"]',
    ),
    "unfixable": Setting(
        SELECTORS, "Rules whose findings are not fixed, and no fix is offered.", 'unfixable = ["TL201"]', "[]"
    ),
    "extend-fixable": Setting(
        SELECTORS,
        "Rules whose findings can be fixed, in addition to those of `fixable`.",
        'extend-fixable = ["TL201"]',
        "[]",
    ),
    "severities": Setting(
        _SEVERITIES,
        "How grave the findings of a rule are, by code or beginning of a code; the longer one counts. `off` is not to "
        "report them.",
        '[severities]\nTL105 = "hint"',
        "{}",
    ),
    "severity": Setting(_LEVEL, "Only what is at least as grave is reported.", 'severity = "warning"', '"hint"'),
    "fail-on": Setting(
        _LEVEL,
        "`tapelint check` ends with status 1 if it has found something that is at least as grave.",
        'fail-on = "error"',
        '"information"',
    ),
    "output-format": Setting(
        _FORMAT,
        "How `tapelint check` prints findings. `--output-format` and `TAPELINT_OUTPUT_FORMAT` override it.",
        'output-format = "grouped"',
        '"full"',
    ),
    "fix": Setting(
        _FLAG,
        "`tapelint check` makes the safe fixes, as with `--fix`; `--no-fix` overrides it. Standard input is fixed only "
        "with `--fix`, and editors do not read this.",
        "fix = true",
        "false",
    ),
    "fix-only": Setting(
        _FLAG,
        "`tapelint check` makes fixes and does not report what is left, as with `--fix-only`.",
        "fix-only = true",
        "false",
    ),
    "unsafe-fixes": Setting(
        _FLAG,
        "Where `tapelint check` makes fixes, those are made, too, that may change what is computed. With `false` it "
        "does not mention them; where nothing is said it tells how many there are.",
        "unsafe-fixes = true",
        "not set",
    ),
    "show-fixes": Setting(_FLAG, "`tapelint check` lists what it has fixed.", "show-fixes = true", "false"),
    "baseline": Setting(
        _PLACE,
        "The file that lists the findings which `tapelint check` does not report, relative to the folder of this one; "
        "`tapelint check --write-baseline` writes it.",
        'baseline = "tapelint-baseline.json"',
        "no file",
    ),
    "exclude": Setting(
        _PATTERNS,
        "Files and folders that are not checked, instead of the usual ones. Patterns are those of ignore files, "
        "relative to the folder of the configuration. What is named on the command line is checked all the same.",
        'exclude = [".venv", "build"]',
        json.dumps(EXCLUDED),
    ),
    "extend-exclude": Setting(
        _PATTERNS,
        "Files and folders that are not checked, in addition to those of `exclude`.",
        'extend-exclude = ["*_pb2.py"]',
        "[]",
    ),
    "force-exclude": Setting(
        _FLAG,
        "What is excluded is not checked even where it is named on the command line, as pre-commit names it.",
        "force-exclude = true",
        "false",
    ),
    "respect-gitignore": Setting(_FLAG, "What git ignores is not checked.", "respect-gitignore = false", "true"),
    "callers": Setting(
        _FLAG,
        "What the scripts, notebooks and tests that use a file show in it is reported, too. Takes 0.6 to 3 times the "
        "processor time of the file itself.",
        "callers = false",
        "true",
    ),
    "follow-installed": Setting(
        _FLAG,
        "The code of installed libraries that require PyTorch is executed, too, where a program gives them tensors "
        "with a graph, or uses a network of theirs. The environment is the activated one, `.venv` in the project, or "
        "that of tapelint itself.",
        "follow-installed = true",
        "false",
    ),
    "cache-dir": Setting(
        _PLACE,
        "The folder of the cache, relative to that of this file; `~` and environment variables are expanded. "
        "`--cache-dir` and `TAPELINT_CACHE_DIR` override it.",
        'cache-dir = "build/tapelint"',
        '".tapelint_cache"',
    ),
    REQUIRED: Setting(
        _VERSIONS,
        "The versions of tapelint that this configuration is for, as a version specifier (PEP 440). With any other, "
        "tapelint says so and does nothing, whatever else the configuration has.",
        'required-version = ">=0.1"',
        "any version",
    ),
    "extend": Setting(
        _FILE,
        "Another configuration file, whose settings hold where this one says nothing; those that begin with `extend-` "
        "are added up. Relative to the folder of this file; `~` and environment variables are expanded.",
        'extend = "../pyproject.toml"',
        "no file",
    ),
}


def checked(table: Mapping[str, object], at: At, root: str = "") -> dict[str, Any]:
    """The fields of a Config, its patterns below ``root``; raises ConfigError at the first value that is wrong. The
    version comes first: another one may know other keys.
    """
    fields: dict[str, Any] = {}
    for key, value in sorted(table.items(), key=lambda item: item[0] != REQUIRED):
        if key not in SETTINGS:
            raise ConfigError(f"{at(key)}: unknown key {key!r}; {keys.suggestion(key, SETTINGS, 'the keys are')}")
        fields[key.replace("-", "_")] = SETTINGS[key].kind.read(key, value, at, root)
    return fields


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
