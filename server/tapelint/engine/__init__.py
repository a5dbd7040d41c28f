"""How paths are run: evaluation with a memo, fuel, liveness, activation frames, incremental units."""
