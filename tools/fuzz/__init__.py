"""The fuzzer: random torch programs, run by PyTorch and by tapelint, compared, and shrunk where the two disagree.

    make fuzz SEED=1 COUNT=500            # programs 1 to 500; TIME=300 stops after five minutes
    python -m tools.fuzz --seed 0         # any seed; it is printed, so that the run can be repeated
    python -m tools.fuzz --only silent    # shrink and print disagreements of one sort

A program has 5 to 40 random statements and at most one sort of surprise: a number nobody knows before it runs, on which
a branch depends. Then PyTorch runs it once for each answer. Programs that raise something that is no business of
tapelint are thrown away and written anew, and so are most of those with easy errors (a leaf that is written, a loss
without a graph).

To see a program again: ``pool.draw(seed)``. A disagreement is cut down by ``shrink``, the engine is mended where it is
wrong, and what is left becomes a block of ``tests/corpus/fuzzed.md``. docs/fuzzing.md tells what is compared, and how
far the two agree.

``catalogue`` finds the ops that fit by trying those of the table; ``scope`` and ``expressions`` know what a program has
at hand; ``writer`` is the hand that writes, ``tensors``, ``backwards``, ``blocks``, ``containers``, ``functions``,
``networks``, ``surroundings`` and ``language`` are the kinds of statements, ``program`` makes a whole of them;
``judge`` runs one both ways, ``pool`` many; ``features`` and ``tally`` count.
"""
