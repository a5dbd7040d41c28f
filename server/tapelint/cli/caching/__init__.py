"""What earlier runs have found, kept in a folder: a file whose check can only say the same again is not checked.

    .tapelint_cache/0.1.0/6f0c2d51f2a1.jsonl     what the runs in one folder have found

What an analysis reads is its arguments: the text, the configuration, and what imports mean. An entry holds what all of
these were (asking.py), and counts as long as they are (validity.py).
"""
