"""Modules of the workspace that the program imports: loading them, and grafting what they define into paths."""
