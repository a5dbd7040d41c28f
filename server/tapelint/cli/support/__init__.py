"""Commands about tapelint itself: its settings, and what a report of a bug needs."""
