"""Edits that cut a value off its graph, or undo such a cut."""
