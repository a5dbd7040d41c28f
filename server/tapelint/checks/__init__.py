"""Watchers that publish events which no single op can see."""
