"""Models of Python's builtins and of the standard library."""
