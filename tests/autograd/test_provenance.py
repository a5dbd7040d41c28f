"""What is known of where a tensor comes from, as paths add to it and analysed units are merged."""

import ast

from tapelint.autograd import Cut, CutReason, Facts, ProgramPoint, Provenance

HERE, LATER = ProgramPoint(ast.Pass()), ProgramPoint(ast.Pass())
DETACHED, READ = Cut(HERE, CutReason.DETACH), Cut(LATER, CutReason.ITEM)


def test_what_is_learned_later_leaves_other_parts_as_they_were() -> None:
    facts = Facts()
    facts.record_provenance(1, Provenance(cut=DETACHED, clone_of=(7, 0)))
    facts.record_provenance(1, Provenance(cut=READ, update_of=0))
    assert facts.provenance_of(1) == Provenance(cut=READ, clone_of=(7, 0), update_of=0)
    assert facts.provenance_of(2) == Provenance()


def test_merged_facts_keep_each_part_that_was_known_first() -> None:
    facts, other = Facts(), Facts()
    facts.record_provenance(1, Provenance(cut=DETACHED))
    other.record_provenance(1, Provenance(cut=READ, rewrapped=LATER))
    other.record_provenance(2, Provenance(cut=READ))
    facts.merge_from(other)
    assert facts.origins.provenance == {1: Provenance(cut=DETACHED, rewrapped=LATER), 2: Provenance(cut=READ)}
    assert list(facts.cuts()) == [(1, DETACHED), (2, READ)]


def test_a_fork_learns_by_itself() -> None:
    facts = Facts()
    facts.record_provenance(1, Provenance(cut=DETACHED))
    fork = facts.fork()
    fork.record_provenance(1, Provenance(from_gradient=True))
    assert (facts.provenance_of(1), fork.provenance_of(1)) == (
        Provenance(cut=DETACHED),
        Provenance(cut=DETACHED, from_gradient=True),
    )


def test_an_unchanged_clone_has_the_values_of_what_it_was_cloned_from() -> None:
    facts = Facts()
    facts.record_provenance(2, Provenance(clone_of=(1, 3)))
    facts.record_provenance(3, Provenance(clone_of=(2, 0)))
    assert facts.same_values((3, 0), (1, 3))
    assert not facts.same_values((3, 1), (1, 3))
