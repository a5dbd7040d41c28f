"""What a run shows while it goes on: how far it has come, and what has changed since."""
