"""The classes of values that are known: what ``isinstance``, ``type``, ``callable`` and ``==`` ask about."""
