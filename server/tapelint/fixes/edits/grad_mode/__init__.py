"""Edits that switch the recording of gradients on or off."""
