"""Text to tree, spans and suppression comments; knows nothing of tapelint's other packages."""

from __future__ import annotations

from .cells import Cell, cell_at, changes, in_cell, moved
from .edit import Edit, Span, apply, difference, line_starts, rows
from .notebooks import NOTEBOOK, Notebook, joined, notebook
from .parsing import Source, concerns_torch, head, imported, may_use_torch, parse, parsed
from .reading import INIT, SourceError, read
from .recovery import UNPARSED, Problem
from .suppression import Directive, Flaw, Flawed, Form, Listed, Suppression, Suppressions
from .tree_reuse import TreeDiff, reuse_tree
from .walking import (
    FIELDS,
    FUNCTIONS,
    SCOPES,
    Definition,
    Loop,
    blocks,
    body_of,
    cached_on_node,
    called_on,
    children,
    definitions,
    dotted,
    is_none,
    last_name,
    own_nodes,
    walk,
    written,
)

__all__ = [
    "dotted",
    "is_none",
    "last_name",
    "own_nodes",
    "FIELDS",
    "FUNCTIONS",
    "SCOPES",
    "INIT",
    "NOTEBOOK",
    "UNPARSED",
    "Definition",
    "TreeDiff",
    "Cell",
    "Directive",
    "Edit",
    "Flaw",
    "Flawed",
    "Form",
    "Listed",
    "Loop",
    "Notebook",
    "Problem",
    "Source",
    "SourceError",
    "Span",
    "Suppression",
    "Suppressions",
    "reuse_tree",
    "apply",
    "difference",
    "head",
    "blocks",
    "body_of",
    "children",
    "definitions",
    "cell_at",
    "concerns_torch",
    "imported",
    "joined",
    "line_starts",
    "may_use_torch",
    "moved",
    "changes",
    "in_cell",
    "notebook",
    "cached_on_node",
    "parse",
    "parsed",
    "read",
    "rows",
    "walk",
    "called_on",
    "written",
]
