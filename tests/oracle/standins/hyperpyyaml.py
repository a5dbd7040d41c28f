"""What the tests need of HyperPyYAML: tags that make objects, and references to other keys."""

import functools
import importlib
import re

import yaml

REFERENCE = re.compile(r"<([^>]*)>")


class Node:
    def __init__(self, tag, value):
        self.tag, self.value = tag, value


class Loader(yaml.SafeLoader):
    pass


def _tagged(loader, suffix, node):
    if isinstance(node, yaml.MappingNode):
        value = loader.construct_mapping(node, deep=True)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_scalar(node)
    return Node(suffix, value)


Loader.add_multi_constructor("!", _tagged)


def load_hyperpyyaml(yaml_stream, overrides=None):
    tree = yaml.load(yaml_stream, Loader)
    tree.update(overrides or {})
    made = {}
    return {key: _made(item, tree, made) for key, item in tree.items() if not key.startswith("__")}


def _made(item, tree, made):
    if isinstance(item, dict):
        return {key: _made(each, tree, made) for key, each in item.items()}
    if isinstance(item, list):
        return [_made(each, tree, made) for each in item]
    if not isinstance(item, Node):
        return item
    if id(item) not in made:
        made[id(item)] = _of_tag(item, tree, made)
    return made[id(item)]


def _of_tag(item, tree, made):
    kind, _, name = item.tag.partition(":")
    if kind == "ref":
        values = [_made(_at(tree, key), tree, made) for key in REFERENCE.findall(item.value)]
        if REFERENCE.fullmatch(item.value):
            return values[0]
        left = map(str, values)
        text = REFERENCE.sub(lambda _: next(left), item.value)
        first, _, second = text.partition(" * ")
        return int(first) * int(second) if second else text
    value = _made(item.value, tree, made)
    args, kwargs = (value, {}) if isinstance(value, list) else ([], value if isinstance(value, dict) else {})
    if kind == "name" and (args or kwargs):
        return functools.partial(_located(name), *args, **kwargs)
    if kind == "name":
        return _located(name)
    assert kind in ("new", "apply"), item.tag
    return _located(name)(*args, **kwargs)


def _at(tree, key):
    for part in re.findall(r"[^\[\]]+", key):
        tree = (tree.value if isinstance(tree, Node) else tree)[part]
    return tree


def _located(dotted):
    module, _, name = dotted.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except ImportError:
        return getattr(_located(module), name)
