"""How paths are run: evaluation with a memo, fuel, liveness, activation frames, incremental units.

What is found does not depend on history: an incremental analysis equals a fresh one, counters included.
"""
