"""Tests are programs whose caller is pytest or unittest: what they collect, and how they call it."""
