"""The generated parts of docs/semantics.md, as lines of Markdown, and how such parts get into a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tapelint.ops.layers import bare, layer, layer_names
from tapelint.ops.schema import Layer

from .groups import EVERYDAY, GROUPS, grouped, twins


def groups() -> Iterator[str]:
    """What each op saves: a short table, then everything."""
    found = grouped()
    yield "| saves | write the result? | write the input? | a second walk | for example |"
    yield "|---|---|---|---|---|"
    for group in GROUPS:
        known = [entry for entry in found[group] if entry.partition("(")[0] in EVERYDAY]
        yield (
            f"| [{group.title}](#{group.anchor}) | {group.write_result} | {group.write_input} | {group.walk_twice} "
            f"| {_code(known)} |"
        )
    for group in GROUPS:
        yield from _folded(f"All {len(found[group])} that save {group.title}", found[group])


def in_place() -> Iterator[str]:
    """What the in-place twins keep."""
    found = twins()
    yield "| the next write | after |"
    yield "|---|---|"
    yield f"| raises at backward | {_code(found[True])} |"
    yield f"| is fine | {_code([entry for entry in found[False] if entry.partition('(')[0].rstrip('_') in EVERYDAY])} |"
    yield from _folded(f"All {len(found[False])} after which it is fine", found[False])


def layers() -> Iterator[str]:
    """What layers keep of their parameters."""
    found: dict[str, list[str]] = {}
    for name in layer_names():
        known = layer(name)
        if known is not None and any("??" not in param for param in known.params):
            found.setdefault(_weights(known), []).append(name)
    yield "| an optimizer step between forward and backward | after |"
    yield "|---|---|"
    for answer in ("raises", "raises if the input needs a gradient", "is fine"):
        if answer in found:
            yield f"| {answer} | {_code(sorted(found[answer]))} |"


def _weights(known: Layer) -> str:
    params = {bare(param) for param in known.params} | {"parameters"}  # a stack of layers names them together
    saved = [item for item in known.op.saves if item.what in params]
    if not saved:
        return "is fine"
    if all(item.gradient_of and not item.gradient_of & params for item in saved):
        return "raises if the input needs a gradient"
    return "raises"


def _folded(title: str, entries: list[str]) -> Iterator[str]:
    yield from ("", f"<details><summary>{title}</summary>", "", _code(entries), "", "</details>")


def _code(entries: list[str]) -> str:
    return ", ".join(f"`{entry}`" for entry in entries)


PARTS = {"groups": groups, "layers": layers, "twins": in_place}
"""Generated parts by the name their marker has."""


def filled(page: str, parts: Mapping[str, Callable[[], Iterator[str]]]) -> str:
    """``page`` with every part between its markers made anew."""
    for name, part in parts.items():
        begin, end = f"<!-- generated: {name} -->\n", "<!-- end -->"
        before, found, rest = page.partition(begin)
        if not found:
            raise ValueError(f"the page has no place for {name!r}")
        page = before + begin + "\n".join(part()) + "\n" + end + rest.partition(end)[2]
    return page
