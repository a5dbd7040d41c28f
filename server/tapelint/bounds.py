"""The sizes up to which things are followed, the same for each analysis: beyond them tapelint knows less, and says so.

What one analysis may do in all is counted in fuel (``engine.limits``).
"""

from __future__ import annotations

from .frozen import frozen


@frozen
class Bounds:
    """How much of each thing is followed or kept."""

    # What a path remembers of its tests.

    # Conjunctions that are kept of a guard; of more those with the fewest choices.
    conjunctions: int = 16
    # Those up to which a guard is simplified where paths meet (`choices.PathGuard.beside`), and how far.
    weighed_guard: int = 8
    splits_at_joins: int = 4
    # Choices that are tried both ways to find out whether others are needed.
    splits: int = 12
    # Conjunctions that are kept of one unit, and of those that raised. Beyond them findings need more choices.
    abandoned: int = 256
    # Candidates that are all followed; of more the result is unknown.
    picks: int = 3
    # Options of a test of which two at once are tried.
    paired_options: int = 4
    # On a path with more assumptions that share a value with a test, nothing is concluded: it would take too
    # long.
    assumptions: int = 60
    # Arithmetic that is nested deeper than this has no formula: what a loop adds to would never repeat.
    arithmetic_depth: int = 4
    # Remainders are tried for divisors up to this: there is one witness for each remainder.
    divisor: int = 64
    # Constants of one kind that texts are put together of: the number of texts is the product over three kinds.
    text_pieces: int = 6
    # Facts of which an answer is kept, for each question and the whole process.
    facts: int = 4_096
    # Formulas, or pairs of them, whose answers are kept for the whole process.
    kept_answers: int = 4_096

    # Files of a run up to which it says of each why nothing in it was followed: that takes another execution.
    explained_files: int = 8

    # How states are compared.

    # Heap objects that distinguished paths lately and are compared first.
    suspects: int = 4
    # A constant made of so many induction values observes them: those of a sum over a loop would become more
    # and more.
    induction_sources: int = 8
    # What a comparison of two paths costs at least, in objects compared (`Limits.comparisons_per_fuel`).
    cheap_join: int = 16
    # An iteration that used less fuel costs less to execute once more than to compare.
    cheap_iteration: int = 24
    # How deep containers of plain values are compared; deeper ones count as different, which costs an
    # iteration.
    compared_depth: int = 4
    # Iterations that stand for all beyond `Limits.max_unroll`: one finds what was waited for, one what that has
    # left.
    late_iterations: int = 2
    # Occurrences of one node in one round of a comprehension; no node has more, and rounds do not share keys of the
    # memo.
    occurrences: int = 1_000
    # Iterations in which little memory is kept: that of a local variable, until a call ends, or of bare nodes.
    short_loop: int = 100
    # Earlier iterations whose gradients must still be there before a cycle of references is told: one may still be
    # cleared.
    cyclic_gradients: int = 2

    # How far values, classes and texts are followed.

    # How deep base classes are followed, so that a hierarchy in a circle ends.
    bases_depth: int = 20
    # How deep containers are nested that are recognized as data.
    data_depth: int = 3
    # Items of a list that is joined with another, or spread out, that are held one by one: a list that is
    # doubled again and again is larger than memory.
    items: int = 10_000
    # In loops that are nested deeper, all names that are read are live: the work doubles with each level.
    loop_depth: int = 6
    # How many attributes lead from what a function uses to an object whose data it may compute.
    data_calls: int = 2
    # Values that are searched below one holder: more hold data sets, not graphs.
    held_values: int = 2_000
    # Values that are searched for what holds a tensor: more hold whole datasets, not graphs.
    holders: int = 400
    # Values that are searched for the tensors that an argument leads to; beyond them nothing is reported.
    compared_values: int = 4_000
    # Passes, and clearings, that the history of one gradient keeps: no rule asks for older ones.
    passes: int = 16

    # Characters of a known text; a longer one is unknown: `"x" * n` may be larger than memory.
    text: int = 10_000
    # Objects that are searched for what an abandoned call may have changed.
    abandoned_objects: int = 200
    # Products of numbers up to this are computed: those of larger ones may be larger than memory.
    operand: float = 1e12

    # Times that an expression is looked at in a recording.
    sights: int = 64
    # Calls of the way to a finding that are steps of its story: the outermost, and the innermost ones.
    story_calls: int = 4

    # How much is read.

    # Characters and rows of a file that is analysed.
    characters: int = 1_500_000
    rows: int = 60_000
    # The most levels a tree may have, of expressions within a statement and of statements within each other.
    syntax_depth: int = 120
    # Characters of a notebook, pictures and all; the code in it is measured as any other file.
    notebook_characters: int = 100_000_000
    # Characters of all remembered texts together: their trees take about a hundred times that in bytes.
    kept_characters: int = 1_000_000
    # Texts that are remembered of one file: that before an edit comes back where the edit is undone, or was
    # only tried.
    kept_versions: int = 2
    # Imports of a package that are followed to find out what it takes from the modules in it.
    star_names: int = 12
    # Configurations with limits for which modules are kept: those of a file that is checked, and of one that
    # calls it.
    shared_kinds: int = 2
    # Characters of the modules that are kept for each of them.
    shared_characters: int = 1_000_000
    # How often a name of a library may stand for another one of it.
    installed_names: int = 8
    # Names that are followed to what they are assigned, one to another, where a file adds a folder to
    # `sys.path`.
    added_folders: int = 20
    # Files of a project, and bytes of them together, that are searched for those that use a file.
    project_files: int = 3_000
    project_bytes: int = 60_000_000
    # Bytes of one file that may be a caller: what is larger is data.
    caller_bytes: int = 400_000
    # Files that are parsed for one file, those first that are likely to be scripts, the nearest first.
    parsed_callers: int = 16
    # Files and folders that are looked at to find out whether one may be imported.
    importers: int = 3_000
    # Characters of a file of metadata that are read.
    installed_bytes: int = 2_000_000
    # Assignments that a fix follows to what a name is made of.
    followed_assignments: int = 8

    # How often fixes are tried, and how deep Python may go for one analysis.

    # How often a cure is made again where the same place then shows the same hazard of another tensor.
    cures_more: int = 2
    # How often all fixes are applied: a program with more findings that stand in each other's way is left to the
    # next run.
    rounds_of_fixes: int = 20
    # Python frames the interpreter may need for the deepest program it accepts.
    frames: int = 12_000


BOUNDS = Bounds()
