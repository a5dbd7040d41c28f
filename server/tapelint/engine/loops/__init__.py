"""Loops: when an iteration repeats the one before, and what a loop is assumed to reach."""
