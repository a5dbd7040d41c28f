"""TL1xx: how long a graph lives."""
