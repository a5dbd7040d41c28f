"""What calls of torch, of Python's library and of frameworks mean: a function for each, found by its dotted name.

A model says what is certain. The rest goes to ``machine.call_unknown``, as if there were no model.
"""
