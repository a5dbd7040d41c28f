"""Generates and checks the tables of docs/semantics.md."""
