"""``tapelint config``: which settings there are, or what one of them is for."""

from __future__ import annotations

import json

from ..workspace.all_settings import SETTINGS, Setting
from ..workspace.keys import suggestion
from .streams import Refusal, writing


def run(key: str | None, output_format: str) -> int:
    """Print the names of all settings, or one setting; in JSON what there is to know of them. The exit status."""
    if key is not None and key not in SETTINGS:
        raise Refusal(f"there is no setting {key!r}; {suggestion(key, SETTINGS, 'the settings are')}")
    with writing():
        if output_format == "json":
            every = {name: _described(setting) for name, setting in SETTINGS.items()}
            print(json.dumps(every if key is None else every[key], indent=2, ensure_ascii=False))
        elif key is None:
            print("\n".join(SETTINGS))
        else:
            print(_explained(SETTINGS[key]))
    return 0


def _described(setting: Setting) -> dict[str, str]:
    """The words of ruff."""
    return {
        "doc": setting.doc,
        "default": setting.default,
        "value_type": setting.kind.name,
        "example": setting.example,
    }


def _explained(setting: Setting) -> str:
    head = f"{setting.doc}\n\nDefault value: {setting.default}\nType: {setting.kind.name}"
    return f"{head}\nExample usage:\n```toml\n{setting.example}\n```"
