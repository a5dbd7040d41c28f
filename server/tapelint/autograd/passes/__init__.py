"""The backward pass: which nodes run, what it checks, what it frees, and what earlier passes have retained."""
