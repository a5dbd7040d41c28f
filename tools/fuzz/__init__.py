"""The fuzzer: random small torch programs, run by PyTorch and by tapelint, compared, and shrunk where the two disagree.

    python -m tools.fuzz --seed 1 --count 500

``catalogue`` finds the ops that fit by trying those of the table; ``scope``, ``expressions``, ``writer`` and
``statements`` write programs; ``judge`` runs one both ways; ``shrink`` cuts a disagreement down to what matters.
"""
