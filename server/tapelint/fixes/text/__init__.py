"""Tools that edits share: nodes to text, names, statements as rows."""
