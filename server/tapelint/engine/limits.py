"""How much one analysis may do.

Fuel is counted in evaluated expressions, which depends on the program alone: two analyses of a text end at the same
place, on a fast machine and on a slow one. An expression takes about 28 microseconds (docs/design/compiled.md),
40,000 about a second.
"""

from __future__ import annotations

from dataclasses import replace

from ..frozen import frozen

OF_A_FILE = (
    *("script_fuel", "entry_fuel", "all_entries_fuel", "idle_entry_fuel", "all_idle_entries_fuel"),
    *("latent_fuel", "all_latent_fuel", "late_entry_fuel", "all_late_entries_fuel"),
    *("torch_free_fuel", "cell_rerun_fuel", "all_cell_reruns_fuel", "all_modules_fuel"),
)
"""The fuel of the parts of the analysed file, and of all its imports together."""


@frozen
class Limits:
    """The budgets of one analysis. What they cut off is counted (`AnalysisStats`) and reported as a notice."""

    # Fuel of the script. Few programs need as much, and an edit executes only what stands below it.
    script_fuel: int = 40_000
    # Fuel of one entry point that is a function without a caller.
    entry_fuel: int = 10_000
    # Fuel of all of them together. Those that reach a backward come first, then `forward` methods.
    all_entries_fuel: int = 30_000
    # The same two for functions that do not train, such as the factories of a file of models. They come last, and there
    # may be hundreds of them.
    idle_entry_fuel: int = 5_000
    all_idle_entries_fuel: int = 10_000
    # Fuel of one function without a caller that is called again with tensors that require grad, and of all of them.
    # Only what writes in place is.
    latent_fuel: int = 3_000
    all_latent_fuel: int = 9_000
    # Fuel of each entry point that is left when a common budget is used, and of all of them: nine in ten entry points
    # need less than this, so that one which needs too much does not keep the others from running.
    late_entry_fuel: int = 1_500
    all_late_entries_fuel: int = 22_500
    # Fuel of the script, and of all entry points together, in a file that does not use PyTorch itself: it is executed
    # only for what the files that it imports do with its arguments.
    torch_free_fuel: int = 10_000
    # Fuel of one definition or import that stands below the place where the script raised.
    definition_fuel: int = 5_000
    # Fuel of the object that is made for one annotated parameter.
    annotation_fuel: int = 6_000
    # Fuel of one method that is called because another one needs what it assigns.
    setup_fuel: int = 4_000
    # Fuel of the second run of one notebook cell, and of all of them together.
    cell_rerun_fuel: int = 10_000
    all_cell_reruns_fuel: int = 30_000
    # Fuel of the top level of one imported module, and of all of them together.
    module_fuel: int = 6_000
    all_modules_fuel: int = 30_000
    # Characters of all imported modules together. A module that no longer fits is as unknown as a library.
    import_characters: int = 800_000
    # The same for all modules of installed libraries together, and the fuel of one call of their code. What takes more
    # is as unknown as a library without source.
    library_characters: int = 400_000
    all_libraries_fuel: int = 20_000
    library_call_fuel: int = 2_000
    # How many objects are compared at a join, and how many nodes a backward visits, for one unit of fuel: measured, so
    # that fuel stays in proportion to time.
    comparisons_per_fuel: int = 24

    # A call inside an entry point that does not train may take one part in so many of the fuel that is left, unless
    # that is too little for any. What takes more is as unknown as a library.
    call_share: int = 2
    # Fuel of all calls of one function of a module that has nothing of PyTorch: what declares the options needs less.
    torch_free_call_fuel: int = 1_500
    least_share: int = 500

    # Fuel of all calls of one `__setattr__` of the program that keeps what it is given: after that it only does so.
    setter_fuel: int = 500

    # Paths that are kept between two statements. Eight are three independent unknown conditions.
    paths: int = 8
    # Paths through the `__init__` of an object: only one of them is used.
    init_paths: int = 1
    # Paths after which a function without a caller is called again.
    repeated_paths: int = 4
    # Methods that are called before one that needs what they assign, and how many one for another.
    setters: int = 4
    setup_depth: int = 3
    # Derived classes on whose objects the methods of a class run that leaves others to them.
    heirs: int = 2
    # Calls after which what grows can be distinguished from what keeps the results of the last two.
    repeated_calls: int = 3
    # Functions through which a parameter is followed that is handed on from one to another.
    handed_on: int = 3
    # Paths on which a notebook cell is run a second time.
    rerun_paths: int = 2

    # How deep calls of the program's functions may be nested, and one function inside itself. The second is small
    # because unknown data makes a recursion fork at every level.
    call_depth: int = 40
    recursion: int = 4
    # How deep modules may be nested that import each other while their top levels run.
    nested_imports: int = 40
    # How many objects may be made for the annotations of each other's parameters.
    nested_annotations: int = 3

    # Iterations of a loop, and items of an iterable, of which there may be many. The third shows what the second does
    # to the graph of the first.
    unroll: int = 3
    # Iterations of a loop that counts, such as `if step % 4 == 0`, or that waits for a number to be reached.
    max_unroll: int = 12
    # Iterations of a loop over items each of which is known, as of a list that is spelled out: a name among them may
    # decide what happens in one iteration only.
    known_items: int = 32
    # Those of a loop that freezes parameters: a large network has some hundreds.
    frozen_items: int = 512
    # Values that are taken from a generator of the program, where it may have many.
    generator_items: int = 8
    # Items for which a comprehension is evaluated.
    comprehension_items: int = 16
    # Items after those that are still executed because they are objects of the program with a state of their own, as in
    # `for layer in net.modules(): layer.reset()`.
    own_items: int = 48

    # Items that are made at once, of a list that is repeated (`[0] * n`) or of an iterator: all of them may be more
    # than memory holds.
    made_items: int = 256

    # Fuel after which a unit of the script ends, so that an edit below it does not cost it again.
    segment_fuel: int = 500
    # A unit is at least one part in so many of all units before it: a long script has a bounded number of units.
    segment_share: int = 4

    @property
    def in_short(self) -> Limits:
        """Those of a second look at a script that needs more than there is: along one path, with calls that take little
        of half the fuel. Nothing is run beside it.
        """
        one_path = {"paths": 1, "unroll": 2, "max_unroll": 4, "call_share": 4, "script_fuel": self.script_fuel // 2}
        return replace(self, **dict.fromkeys(OF_A_FILE, 0) | {"all_modules_fuel": self.all_modules_fuel} | one_path)

    @property
    def of_modules(self) -> Limits:
        """Those that decide how an imported module is executed. How much fuel is left for it is another question."""
        return replace(self, **dict.fromkeys(OF_A_FILE, 0))


def of_caller(rank: int) -> Limits:
    """The budgets of a file that is executed only for what it does to another one. The best of the callers, of ``rank``
    0, has as much as a file that is checked; each of the others half as much as the one before, so that all of them
    cost about twice as much as the first. A call may take all that is left: what calls do is why the file is executed.
    """
    share = 2 ** min(rank, 3)
    return Limits(
        script_fuel=40_000 // share,
        entry_fuel=max(10_000 // share, 5_000),
        all_entries_fuel=20_000 // share,
        idle_entry_fuel=5_000,
        all_idle_entries_fuel=10_000 // share,
        all_modules_fuel=20_000,
        call_share=1,
        cell_rerun_fuel=0,
        all_cell_reruns_fuel=0,
    )
