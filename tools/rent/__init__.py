"""What each mechanism of the engine is worth: it is switched off, and what is lost without it is counted."""
