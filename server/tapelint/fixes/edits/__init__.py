"""One purpose, one file: ``edits(editor, *targets)`` gives the edits or raises ``Refused``.

Targets are nodes of the analysed tree. Where a call and the statement that is nothing but this call mean the same,
either will do.
"""
