"""What Python syntax means: one transfer function for each kind of node.

What it does not know is an unknown value, and what is read from that is unknown.
"""
