"""Write the generated tables of docs/semantics.md anew, after the op table has changed:

python -m tools.docs            (no torch needed; a test tells when it has to be run)
"""

from __future__ import annotations

from pathlib import Path

from .tables import filled

PAGE = Path(__file__).resolve().parents[2] / "docs" / "semantics.md"


def main() -> None:
    """Fill the page in place."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
