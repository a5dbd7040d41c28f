"""What a package says of itself beyond pyproject.toml: the addresses of the project, and README.md as PyPI can show it.

PyPI has none of the files that README.md links to. Where the project has an address (``__url__`` of the package) links
and pictures lead there; where it has none, links become their words and pictures are left out.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<picture>!?)\[(?P<words>(?:[^\[\]`]|`[^`]*`)*)\]\((?P<target>(?!https?:|#|mailto:)[^()\s]+)\)")
_COMMENT = re.compile(r"^<!-- .* -->\n", re.MULTILINE)


class Hook(MetadataHookInterface):
    """Fills in the dynamic fields."""

    def update(self, metadata: dict[str, Any]) -> None:
        root = Path(self.root)
        url = url_of(root / "server" / "tapelint" / "__init__.py")
        text = described((root / "README.md").read_text(encoding="utf-8"), url)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = urls(url)


def url_of(package: Path) -> str:
    """The value of ``__url__`` in the package, which is not imported."""
    for node in ast.parse(package.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "__url__" and node.value is not None:
            return str(ast.literal_eval(node.value))
    raise ValueError(f"{package} has no __url__")


def urls(url: str) -> dict[str, str]:
    """The addresses, under the names that PyPI knows; none where the project has none."""
    if not url:
        return {}
    return {
        "Homepage": url,
        "Source": url,
        "Documentation": f"{url}/blob/HEAD/docs",
        "Changelog": f"{url}/blob/HEAD/CHANGELOG.md",
        "Issues": f"{url}/issues",
    }


def described(readme: str, url: str) -> str:
    """README.md without links that lead nowhere, and with the package's name once it is published."""
    if url:
        readme = readme.replace("pip install .    # in a checkout", "pip install tapelint")

    def elsewhere(found: re.Match[str]) -> str:
        words, target = found["words"], found["target"]
        if not url:
            return "" if found["picture"] else words
        return f"{found['picture']}[{words}]({url}/{'raw' if found['picture'] else 'blob'}/HEAD/{target})"

    return re.sub(r"\n{3,}", "\n\n", _COMMENT.sub("", _LINK.sub(elsewhere, readme)))
