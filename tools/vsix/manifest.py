"""package.json as it is packaged: with the version of git's tag and, once the project has one, its address."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SCHEMA = "server/tapelint/tapelint.schema.json"


def version(root: Path) -> str:
    """The version of the last tag, without what semantic versioning does not know (``rc1``); 0.0.0 before the first."""
    command = ["git", "describe", "--tags", "--abbrev=0", "--match=v[0-9]*"]
    found = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout
    number = re.match(r"v(\d+\.\d+\.\d+)", found)
    return number[1] if number else "0.0.0"


def url(root: Path) -> str:
    """The address of the project (``__url__`` of the package); empty where it has none."""
    text = (root / "server" / "tapelint" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__url__: str = "(.*)"$', text, re.MULTILINE)
    if found is None:
        raise ValueError("server/tapelint/__init__.py has no __url__")
    return found[1]


def released(manifest: Mapping[str, Any], version: str, url: str) -> dict[str, Any]:
    """A manifest with its version and, where there is an address, all that leads there. Extensions for TOML fetch the
    schema of a tapelint.toml from there: they take no file of an extension.
    """
    made = {**manifest, "version": version}
    if url:
        made["repository"] = {"type": "git", "url": f"{url}.git"}
        made["homepage"] = url
        made["bugs"] = {"url": f"{url}/issues"}
        schema = {"fileMatch": "tapelint.toml", "url": f"{url}/raw/HEAD/{SCHEMA}"}
        made["contributes"] = {**manifest["contributes"], "tomlValidation": [schema]}
    return made


def write_released(root: Path, folder: Path) -> None:
    """Write the package.json of a release of a tree into a folder."""
    made = released(json.loads((root / "package.json").read_bytes()), version(root), url(root))
    text = json.dumps(made, indent=2, ensure_ascii=False) + "\n"
    (folder / "package.json").write_text(text, encoding="utf-8")
