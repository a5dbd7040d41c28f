"""The programs to choose from: of tests/corpus, so that real PyTorch has said of each what it does."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "corpus"
sys.path.insert(0, str(ROOT / "tests" / "mdtest"))
from mdspec import Block, read_specification, without_claims  # noqa: E402


@dataclass(frozen=True, slots=True)
class Chosen:
    """The program number ``index`` below a heading of a file of the corpus, and what the menu calls it."""

    title: str
    file: str
    heading: str
    index: int = 0


CHOSEN = (
    Chosen("A sum of losses", "carried_state", "A sum of losses that goes backward in every step"),
    Chosen("A hidden state kept on the module", "carried_state", "A hidden state on the module"),
    Chosen("A GAN: both losses, then both steps", "updated_parameters", "Both losses of a GAN first, then both steps"),
    Chosen("A residual after the activation", "written_as_a_whole", "A residual after the activation"),
    Chosen("The Dice coefficient of decisions", "backward_without_graph", "The Dice coefficient of decisions"),
    Chosen("A history of losses", "kept_graphs", "A history of losses"),
    Chosen("Layers in a list", "optimizers", "Layers in a list"),
    Chosen("A gradient that is never cleared", "wrong_gradients", "A perturbation whose gradient is never cleared"),
    Chosen("The GAN, repaired", "updated_parameters", "Both losses of a GAN first, then both steps", 1),
)


def examples() -> list[dict[str, Any]]:
    """Each with its title, its text, and the names of the rules whose findings it has."""
    return [_shown(chosen, _block(chosen)) for chosen in CHOSEN]


def _block(chosen: Chosen) -> Block:
    blocks = read_specification(CORPUS / "reports" / f"{chosen.file}.md")
    return [block for block in blocks if chosen.heading in block.name][chosen.index]


def _shown(chosen: Chosen, block: Block) -> dict[str, Any]:
    text = without_claims(block.text)
    imports = [line for line in block.preamble.splitlines() if line not in text.splitlines()]
    return {
        "title": chosen.title,
        "text": "\n".join([*imports, *(["", ""] if len(imports) > 2 else []), text]),
        "rules": sorted(expected.rule for expected in block.expected),
    }
