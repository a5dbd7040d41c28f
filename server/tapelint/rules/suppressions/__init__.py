"""TL9xx: the comments that suppress findings."""
