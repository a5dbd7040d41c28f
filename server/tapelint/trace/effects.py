"""What a statement did to the state of autograd: nodes built, versions bumped, graphs freed, gradients set and cleared.

Each effect is reported once, at the innermost statement of the file in which it happened.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..autograd import BackwardPass, Node, Write
from ..domain.state import State
from .graph_text import Describer

MOST = 12
"""How many nodes that one statement built are printed."""


class Effects:
    """The effects that were reported already."""

    def __init__(self, describer: Describer) -> None:
        self._describer = describer
        self._nodes: set[Node] = set()
        self._writes: dict[int, Write] = {}
        self._freed: dict[tuple[Node, int], BackwardPass] = {}
        self._gradients: set[tuple[str, int, int]] = set()

    def lines(self, state: State, grads: dict[int, int]) -> Iterator[str]:
        """What has happened on a path since the last call; ``grads`` are the gradients of leaves before it."""
        built = sorted(self._new_nodes(state), key=lambda node: node.id)
        for node in built:
            self._describer.numbering.number(node)
        for node in built[:MOST]:
            yield f"built {self._describer.built(node)}"
        if len(built) > MOST:
            yield f"built {len(built) - MOST} more nodes, the last is {self._describer.node(built[-1])}"
        yield from self._new_writes(state, state.writes, "")
        yield from self._new_writes(state, state.untracked_writes, ", not counted by its version counter")
        yield from self._new_gradients(state, grads)

    def freed(self, state: State) -> list[Node]:
        """The nodes that were freed on a path since the last call and that had saved something."""
        found = [(node, run) for node, run in state.freed.items() if (node, id(run)) not in self._freed]
        self._freed.update({(node, id(run)): run for node, run in found})
        return [node for node, _ in found if node.saves_anything]

    def _new_nodes(self, state: State) -> list[Node]:
        found: list[Node] = []
        frontier = [tensor.grad_fn for tensor in list(state.tensors.values())]
        while frontier:
            node = frontier.pop()
            if node is not None and node not in self._nodes:
                self._nodes.add(node)
                found.append(node)
                frontier += [each for each in node.inputs if isinstance(each, Node)]
        return found

    def _new_writes(self, state: State, writes: dict[int, Write], remark: str) -> Iterator[str]:
        for counter, last in list(writes.items()):
            new: list[Write] = []
            for write in last.chain():
                if id(write) in self._writes:
                    break
                self._writes[id(write)] = write
                new.append(write)
            if new:
                how = ", ".join(dict.fromkeys(f"{write.op}{'' if write.certain else '?'}" for write in reversed(new)))
                versions = f"version {new[-1].version - 1} -> {last.version}"
                yield f"wrote {self._written(state, counter, last.tensor)} in place ({how}): {versions}{remark}"

    def _written(self, state: State, counter: int, tensor: int) -> str:
        """What the program calls a tensor that was written: it may be the gradient of a leaf."""
        leaf = next((key for key, made in state.grads.items() if state.tensors[made].version_counter == counter), None)
        if leaf is not None:
            return f".grad of {self._describer.name(leaf)}"
        return self._describer.name(tensor if tensor >= 0 else counter)

    def _new_gradients(self, state: State, grads: dict[int, int]) -> Iterator[str]:
        now = state.grads
        changed = {
            "set": [(key, made) for key, made in now.items() if grads.get(key) != made],
            "cleared": [(key, made) for key, made in grads.items() if key not in now],
        }
        for what, pairs in changed.items():
            new = [pair for pair in pairs if (what, *pair) not in self._gradients]
            self._gradients.update((what, *pair) for pair in new)
            if new:
                names = dict.fromkeys(self._describer.name(key) for key, _ in new)
                yield f".grad {what}: {', '.join(names)}"
