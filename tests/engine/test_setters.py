"""A `__setattr__` of the program that keeps what it is given is run until enough was seen of it."""

from __future__ import annotations

from tapelint.analysis import analyse

BOOKKEEPING = """\
import torch
class Attack:
    def __init__(self, model):
        self.model = model
{attributes}
        self.w = torch.ones(3, requires_grad=True)
    def __setattr__(self, name, value):
        {keep}
        found = self.__dict__.get("_attacks")
        def inside(items, stack=[]):
            if items not in stack:
                stack.append(items)
                if isinstance(items, (list, dict)):
                    for item in items:
                        yield from inside(item, stack)
                elif isinstance(items, Attack):
                    yield items
        for number, value in enumerate(inside(value)):
            found[name + "." + str(number)] = value
    def attack(self):
        x = self.w * self.{last}
        x.requires_grad = True
"""


def program(count: int = 60, keep: str = "object.__setattr__(self, name, value)") -> str:
    attributes = "\n".join(f"        self.a{i} = {i}" for i in range(count))
    return BOOKKEEPING.format(attributes=attributes, keep=keep, last=f"a{count - 1}")


def test_it_is_run_until_enough_was_seen_of_it():
    report = analyse(program())
    assert [found.code for found in report.diagnostics] == ["TL309"]
    assert report.stats["steps"] < 1_500


def test_one_that_does_not_keep_what_it_is_given_is_always_run():
    forwarding = program(keep="self.__dict__.setdefault('data', {})[name] = value")
    assert analyse(forwarding).stats["steps"] > 1_500


def test_a_generator_that_calls_itself_with_what_is_unknown_ends():
    text = """\
import torch
def leaves(tree):
    if isinstance(tree, (list, tuple)):
        for item in tree:
            yield from leaves(item)
    elif isinstance(tree, dict):
        for item in tree.values():
            yield from leaves(item)
    else:
        yield tree
def count(batch):
    return [leaf.shape for leaf in leaves(batch)]
"""
    assert analyse(text).stats["steps"] < 300
