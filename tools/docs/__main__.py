"""Write what is generated in the documentation anew, after the op table or a rule has changed:

python -m tools.docs            (no torch needed; a test tells when it has to be run)

That is: the tables of docs/semantics.md, the pages in docs/rules, the table of repositories in docs/ecosystem.md,
docs/errors.md, docs/settings.md, docs/commandline.md and the JSON schema of the settings.
"""

from __future__ import annotations

from pathlib import Path

from ..ecosystem import counts
from . import commands, errors, settings
from .rulepages import pages
from .tables import PARTS, filled

ROOT = Path(__file__).resolve().parents[2]
SEMANTICS = ROOT / "docs" / "semantics.md"
RULES = ROOT / "docs" / "rules"
ERRORS = ROOT / "docs" / "errors.md"
SETTINGS = ROOT / "docs" / "settings.md"
COMMANDS = ROOT / "docs" / "commandline.md"
SCHEMA = ROOT / "server" / "tapelint" / "tapelint.schema.json"


def generated() -> dict[Path, str]:
    """Every file that is generated, in whole or in part, as it should be."""
    semantics = filled(SEMANTICS.read_text(encoding="utf-8"), PARTS)
    return {
        SEMANTICS: semantics,
        counts.PAGE: filled(counts.PAGE.read_text(encoding="utf-8"), {"ecosystem": counts.table}),
        ERRORS: errors.page(semantics),
        SETTINGS: settings.page(),
        COMMANDS: commands.page(),
        SCHEMA: settings.schema_text(),
        **{RULES / name: text for name, text in pages().items()},
    }


def left_over() -> list[Path]:
    """Pages of rules that are no more."""
    wanted = generated()
    return [path for path in sorted(RULES.glob("*.md")) if path not in wanted]


def main() -> None:
    """Bring the files up to date."""
    RULES.mkdir(exist_ok=True)
    for path in left_over():
        path.unlink()
    for path, text in generated().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
