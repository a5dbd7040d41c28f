"""The text of a configuration file as plain data: YAML, JSON and TOML. Nothing is executed, whatever a tag says.

lr: 0.1
net: !new:nets.UNet          Tagged("!new:nets.UNet", {"width": 8})
    width: 8
"""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import TYPE_CHECKING

from ..frozen import frozen
from .toml_text import read_toml

if TYPE_CHECKING:
    from yaml.constructor import SafeConstructor
    from yaml.nodes import Node

Scalar = str | int | float | bool | None


@frozen
class Tagged:
    """A value with a tag that only the library knows which reads the file."""

    tag: str
    value: Data


@frozen
class Unread:
    """What stands for a value that is none of these, such as a date."""


Data = dict[str, "Data"] | list["Data"] | Tagged | Unread | Scalar
SUFFIXES = (".yaml", ".yml", ".json", ".toml")
MAX_CHARACTERS = 60_000
MAX_VALUES = 3_000
"""Larger files are data, not configurations."""
STANDARD = "tag:yaml.org,2002:"


class _TooLargeError(Exception):
    """There are more values than are read, perhaps because aliases multiply them."""


def read_config(text: str, path: str) -> Data:
    """What a file holds; ``Unread`` where it is too large or is not valid."""
    if len(text) > MAX_CHARACTERS:
        return Unread()
    try:
        match PurePath(path).suffix:
            case ".json":
                return _plain(json.loads(text), [0])
            case ".toml":
                return _plain(read_toml(text), [0])
        return _yaml(text)
    except (ValueError, RecursionError, _TooLargeError):
        return Unread()


def _plain(value: object, count: list[int]) -> Data:
    """What a parser has made, of which a date is no value of ours; ``count`` is how many values there were so far."""
    count[0] += 1
    if count[0] > MAX_VALUES:
        raise _TooLargeError
    if isinstance(value, dict):
        return {str(key): _plain(item, count) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, count) for item in value]
    return value if value is None or isinstance(value, (str, int, float)) else Unread()


def _yaml(text: str) -> Data:
    import yaml
    from yaml.constructor import SafeConstructor

    loader = yaml.SafeLoader(text)
    try:
        root = loader.get_single_node()
        return None if root is None else _of_node(root, SafeConstructor(), [0], {})
    except yaml.YAMLError:
        return Unread()
    finally:
        loader.dispose()


def _of_node(node: Node, scalars: SafeConstructor, count: list[int], tagged: dict[int, Tagged]) -> Data:
    """Built from the nodes, not by PyYAML's constructors: an alias counts as often as it is used. What has a tag is the
    same object wherever an alias stands for it.
    """
    import yaml

    count[0] += 1
    if count[0] > MAX_VALUES:
        raise _TooLargeError
    value: Data
    if isinstance(node, yaml.MappingNode):
        value = {}
        for key, item in node.value:
            found = _of_node(item, scalars, count, tagged)
            if key.tag == f"{STANDARD}merge":
                for part in found if isinstance(found, list) else [found]:
                    value = {**part, **value} if isinstance(part, dict) else value
            else:
                value[str(key.value)] = found
    elif isinstance(node, yaml.SequenceNode):
        value = [_of_node(item, scalars, count, tagged) for item in node.value]
    elif node.tag.startswith(STANDARD):
        return _plain(scalars.construct_object(node), count)
    else:
        value = node.value
    if node.tag in (f"{STANDARD}map", f"{STANDARD}seq"):
        return value
    return tagged.setdefault(id(node), Tagged(node.tag, value))
