"""Write the programs of tests/corpus into a folder, for other tools to be run over them (docs/comparison.md):

python -m tools.comparison FOLDER

FOLDER/raises has those that raise in PyTorch, FOLDER/silent those that run and train wrongly, FOLDER/ok those that are
right. Programs of several files, notebooks and tests are left out.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "mdtest"))
from mdspec import Block, read_all, without_claims  # noqa: E402


def main() -> None:
    """Write the programs, and print how many there are of each kind."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    counts: Counter[str] = Counter()
    for block in filter(_is_alone, read_all(ROOT / "tests" / "corpus")):
        kind = block.verdict.kind if block.verdict else "ok"
        counts[kind] += 1
        file = folder / kind / f"{block.file.stem}_{block.line}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.preamble + without_claims(block.text), encoding="utf-8")
    print(", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items())))


def _is_alone(block: Block) -> bool:
    """Whether a program is one file, and is run as it stands."""
    return not (block.files or block.caller or block.cells or block.tests)


if __name__ == "__main__":
    main()
