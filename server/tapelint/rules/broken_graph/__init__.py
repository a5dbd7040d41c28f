"""TL3xx: graphs that lead nowhere."""
