"""Counts the arrows of a drawing (SVG) that pass through boxes which are not their ends."""

from __future__ import annotations

import re
from xml.etree import ElementTree

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""
Point = tuple[float, float]


def passes(drawing: str) -> list[tuple[int, int, int]]:
    """Each arrow, by its two boxes, with each third box that it passes through."""
    root = ElementTree.fromstring(drawing)
    boxes = {int(group.attrib["data-node"]): _box(group) for group in root.iterfind(".//{*}g[@data-node]")}
    return [
        (begin, end, number)
        for path in root.iterfind(".//{*}path[@data-from]")
        for begin, end in [(int(path.attrib["data-from"]), int(path.attrib["data-to"]))]
        for number, box in boxes.items()
        if number not in (begin, end) and any(_meets(*line, box) for line in _lines(path.attrib["d"]))
    ]


def _box(group: ElementTree.Element) -> Box:
    rect = group.find("{*}rect")
    assert rect is not None
    x, y, width, height = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
    return x + 1, y + 1, x + width - 1, y + height - 1


def _lines(way: str) -> list[tuple[Point, Point]]:
    """The straight lines of a path, which has no others."""
    assert re.fullmatch(r"M[-\d. L]+", way), way
    numbers = [float(number) for number in re.findall(r"-?[\d.]+", way)]
    points = list(zip(numbers[::2], numbers[1::2]))
    return list(zip(points, points[1:]))


def _meets(begin: Point, end: Point, box: Box) -> bool:
    """Whether a line, which runs across or down, meets a box."""
    (x1, y1), (x2, y2) = begin, end
    assert abs(x1 - x2) < 0.2 or abs(y1 - y2) < 0.2, (begin, end)
    left, top, right, bottom = box
    return min(x1, x2) < right and max(x1, x2) > left and min(y1, y2) < bottom and max(y1, y2) > top
