"""Abstract Python values, and questions about the state of one path: reachability, equivalence, join."""
