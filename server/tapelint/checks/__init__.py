"""Listeners to the lifecycle of an execution, which publish events that no single op can see."""
