"""Abseil: what runs a program, and its options."""
