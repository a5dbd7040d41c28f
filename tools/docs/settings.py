"""The page of settings and the JSON schema, made of the one table of settings."""

from __future__ import annotations

import json

from tapelint.workspace.all_settings import SETTINGS, Setting, schema

HEAD = """# Settings

Generated from the table that checks them (`python -m tools.docs`). In a `tapelint.toml`, or below `[tool.tapelint]` in
a `pyproject.toml`; which file counts is in [configuration](configuration.md). `tapelint config` prints the same.
"""


def page() -> str:
    """docs/settings.md."""
    return "\n".join([HEAD, *(_section(key, setting) for key, setting in SETTINGS.items())])


def _section(key: str, setting: Setting) -> str:
    values = f"**Default**: {_code(setting.default)}\n\n**Type**: `{setting.kind.name}`"
    return f"## {key}\n\n{setting.doc}\n\n{values}\n\n```toml\n{setting.example}\n```\n"


def _code(default: str) -> str:
    """Values of TOML as code, words as they are."""
    return f"`{default}`" if default[0] in "[{" or default in ("true", "false") else default


def schema_text() -> str:
    """server/tapelint/tapelint.schema.json."""
    return json.dumps(schema(), indent=2) + "\n"
