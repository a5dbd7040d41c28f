"""The behaviour lock: a digest of all that the analyser says, by which a refactoring proves that it changed nothing."""
