"""Modules of the workspace: executed once per analysis, and only those parts of them that are asked for.

    from helpers import step     helpers.py is parsed, its top level runs, `step` is the function defined there
    from . import models         nothing yet: what `models` defines is looked up when `models.Net` is evaluated

A module's top level runs in a state of its own, as if it were imported before anything else; what it made is then
grafted into every path that meets it. So all paths hold the same objects, whichever of them came first. Imports at the
top level of an imported module are only noted, and followed when one of their names is used: to import one function of
a package with a hundred files costs as many files as that function needs.

Imported code that cannot matter: it knows nothing of PyTorch and is given nothing that PyTorch knows.

from settings import read_arguments     settings.py never mentions torch, and imports nothing that does
args = read_arguments("train.toml")     so it need not run: it makes no graph. What it returns is unknown, for others
                                        may have given it what has one
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import PurePath

from ..autograd import EventBus, Facts
from ..bounds import BOUNDS
from ..domain.completion import ProgramRaised
from ..domain.state import State
from ..domain.values import (
    Class,
    Const,
    External,
    Frame,
    Function,
    HeapRef,
    Instance,
    Mapping,
    Module,
    Sequence,
    Tuple,
    Unknown,
    Value,
)
from ..engine.analysis_unit import AnalysisUnit
from ..engine.import_lookups import Found, Lookups
from ..engine.incremental import recorded
from ..engine.machine import Cancelled, Machine
from ..engine.module_system import LoadedModule, ModuleSystem
from ..engine.syntax.bound_names import BUILTINS
from ..source import Source, imported, may_use_torch, parsed
from ..stubs import Resolve, stub_module_name
from .module import dotted, independent, lacking
from .top_level import may_bind_more, surely_bound, top_level


class Outdated(Cancelled):
    """What is left of an older text's analysis cannot be used for this one: all begins anew."""


class Imports:
    """The `ModuleSystem` of one analysis. The file analysed is ``main``: imported by another one, it runs once more."""

    def __init__(self, machine: Machine, main: Source, resolve: Resolve, follows_libraries: bool = False) -> None:
        self.machine, self._main = machine, main
        self.lookups = Lookups(resolve, machine.limits, lambda: machine.unit.import_lookups)
        self.follows_libraries = follows_libraries
        self.modules: dict[str, LoadedModule] = {}
        self.by_frame: dict[int, LoadedModule] = {}
        self.loading: list[LoadedModule] = []
        self.met: dict[LoadedModule, None] = {}
        self.spent = {False: 0, True: 0}
        self.is_whole = True
        self.unfollowed: dict[tuple[str, str], Value] = {}
        self._is_resumed = False
        self._visiting: dict[tuple[str, str], int] = {}
        self._owner: dict[int, LoadedModule] = {}
        self._far = TorchFreeModules(self.lookups.meaning)

    @property
    def main(self) -> Source:
        """The file that is analysed. A module that reads it while it is executed is another one for another file."""
        self.machine.unit.import_lookups.has_read_main = True
        return self._main

    def is_main(self, module: LoadedModule) -> bool:
        """Whether a module is the file that is analysed."""
        return module.source is self._main

    @property
    def sources(self) -> Iterator[Source]:
        """The files that were parsed."""
        return (module.source for module in self.met)

    @property
    def paths(self) -> dict[str, str]:
        """The files that were read, with their texts."""
        return self.lookups.paths

    def resume(self, main: Source, resolve: Resolve) -> None:
        """Go on with another text of the analysed file."""
        for module in self.by_frame.values():
            if module.source is self._main:
                module.source = main
        self._main, self.met, self.spent = main, {}, {False: 0, True: 0}
        self._is_resumed = True
        self.lookups.resume(resolve)

    def take_over(self, other: ModuleSystem) -> None:
        """Begin with the modules that the analysis of another file has executed, but for those that are different for
        this one. Each is executed again if it would not be the same now, which is found out when it is imported.
        """
        kept = independent(other.modules, {self._main.path, other.main.path})
        self.modules.update(kept)
        self.unfollowed.update(other.unfollowed)
        self.by_frame.update((module.frame, module) for module in kept.values())
        self._owner.update((key, module) for module in kept.values() for key in module.own)

    def has_made(self, key: int) -> bool:
        """Whether a heap object was made by the top level of a module."""
        return key in self._owner

    def adopt(self, frame: int) -> None:
        """The scope of the analysed file, which is no imported module but imports."""
        self.by_frame[frame] = LoadedModule(self._main, frame)

    # Statements

    def here(self, state: State) -> LoadedModule:
        """The module whose code is running."""
        return self.by_frame[state.get(state.frame, Frame).module]

    def of_scope(self, frame: int) -> LoadedModule | None:
        """The module with this scope."""
        return self.by_frame.get(frame)

    def is_lazy(self, state: State) -> bool:
        """Whether an import statement run now need only be noted: it stands at the top level of an imported module."""
        return bool(self.loading) and state.frame == self.loading[-1].frame

    def module(self, state: State, name: str, importer: str) -> Value | None:
        """The module ``name`` as a value; None if it is none of the workspace."""
        found = self.find(name, importer)
        if found is None:
            return None
        loaded = self.load(state, *found)
        if loaded is not None and self.graft(state, loaded):
            return Module(loaded.path)
        return self._something(found[0], "")

    def member(self, state: State, name: str, importer: str, attribute: str) -> Value | None:
        """What ``from name import attribute`` binds; None if the module is none of the workspace."""
        found = self.find(name, importer)
        if found is None:
            return None
        loaded = self.load(state, *found)
        if loaded is None or not self.graft(state, loaded):
            return self._something(found[0], attribute)
        value = self.attribute(state, loaded, attribute)
        if value is None:
            return self._something(found[0], attribute) if loaded.source.text else External(f"{name}.{attribute}")
        return value

    def _something(self, path: str, name: str) -> Value:
        """What a module is known to hold and nothing else is known of: the same wherever it is asked for."""
        library = stub_module_name(path)
        if library is not None:
            return External(f"{library}.{name}")
        return self.unfollowed.setdefault((path, name), Unknown(name))

    # Names

    def missing(self, state: State, name: str) -> Value | None:
        """A name that the running module has not bound but has imported without following it."""
        module = self.by_frame.get(state.get(state.frame, Frame).module)
        if module is None or name not in module.names and not module.stars:
            return None
        return self._noted(state, module, name)

    def attribute(self, state: State, module: LoadedModule, name: str) -> Value | None:
        """``module.name``: bound there, imported there, or a module below it. ``state`` has the module."""
        value: Value | None = state.get(module.frame, Frame).variables.get(name)
        if value is None:
            value = self._noted(state, module, name)
        if value is None:
            value = self._computed(state, module, name)
        if module.is_package and (value is None or isinstance(value, Unknown)):
            value = self.module(state, f".{name}", module.path) or value
        return value

    def _computed(self, state: State, module: LoadedModule, name: str) -> Value | None:
        """What the module's own ``__getattr__`` answers."""
        getter = state.get(module.frame, Frame).variables.get("__getattr__")
        key = (module.path, name)
        if not isinstance(getter, Function) or self._is_visited(key):
            return None
        with self._following(key):
            try:
                return self.machine.call(state, getter, [Const(name)], {}, getter.node)
            except ProgramRaised:
                return None

    def own_classes(self, state: State, owner: Module) -> dict[str, Value] | None:
        """The public classes that a module defines, or a package takes from the modules in it, by name; None if there
        may be more that can be called, such as functions.
        """
        module = self.modules[owner.path]
        if not self.graft(state, module):
            return None
        found = self._taken(state, module) if module.is_package else {}
        if found is None:
            return None
        for name, value in state.get(module.frame, Frame).variables.items():
            thing = state.heap.get(value.id) if isinstance(value, HeapRef) else value
            if isinstance(thing, Function) and not name.startswith("_"):
                return None
            if isinstance(thing, Class) and thing.scope == module.frame and not name.startswith("_"):
                found[name] = value
        return found

    def _taken(self, state: State, package: LoadedModule) -> dict[str, Value] | None:
        """The public classes that a package imports from the modules in it; None if it imports anything else of them,
        or too much.
        """
        found = dict[str, Value]()
        inside = {name: each for name, each in package.names.items() if each[0].startswith(".") and each[1]}
        if len(inside) + len(package.stars) > BOUNDS.star_names:
            return None
        for name in (each for each in inside if not each.startswith("_")):
            value = self._noted(state, package, name)
            if not isinstance(value, HeapRef) or not isinstance(state.heap.get(value.id), Class):
                return None
            found[name] = value
        if self._is_visited(key := (package.path, "*")):
            return found  # in a circle of stars: what it gives itself is nothing new
        with self._following(key):
            for target, importer in package.stars:
                module = self.module(state, target, importer)
                if not isinstance(module, Module) or not target.startswith("."):
                    return None
                if (classes := self.own_classes(state, module)) is None:
                    return None
                found |= classes
        return found

    def defines(self, state: State, owner: Module, name: str) -> bool | None:
        """Whether a module has a name: what it binds whatever happens it has, what is not spelled in it it has not.
        Only a file beside the one that is analysed is what an import means for certain: any other may share its name
        with a library, and what a package holds may be a module in it.
        """
        module = self.modules[owner.path]
        if module.is_stub or not self.graft(state, module):
            return None
        if name in self.machine.query(surely_bound, module.source.tree):
            return True
        is_beside = PurePath(module.path).parent == PurePath(self.main.path).parent
        if module.is_package or not is_beside or name.startswith("__") or name in module.source.text:
            return None
        if self.machine.query(may_bind_more, module.source.tree):
            return None
        return name in state.get(module.frame, Frame).variables

    def load_attribute(self, state: State, owner: Module, name: str) -> Value:
        """``owner.name`` in an expression."""
        module = self.modules[owner.path]
        value = self.attribute(state, module, name) if self.graft(state, module) else None
        if value is not None:
            return value
        # A folder without a file of its own may share its name with a library: `wandb/` beside `import wandb`.
        return self._something(owner.path, name) if module.source.text else External(f"{dotted(owner.path)}.{name}")

    def store_attribute(self, state: State, owner: Module, name: str, value: Value) -> None:
        """``owner.name = value``: every function of that module sees it."""
        module = self.modules[owner.path]
        if self.graft(state, module):
            state.edit(module.frame, Frame).variables[name] = value

    def is_idle(self, state: State, frame: int, given: list[Value]) -> bool:
        """Whether code matters only for what it decides: nothing of autograd comes of it or is given to it."""
        module = self.by_frame.get(frame)
        if module is None or module.source is self._main or not self._is_torch_free(module):
            return False
        return all(is_plain(state, value) for value in given) and not keeps_code(state, frame)

    def _is_torch_free(self, module: LoadedModule) -> bool:
        notes = self.machine.unit.import_lookups.torch_free
        answer = notes[module.path] = self._far.holds(module.path, module.source.text)
        return answer

    def _noted(self, state: State, module: LoadedModule, name: str) -> Value | None:
        """Follow an import that was noted."""
        key = (module.path, name)
        if key in self.machine.unit.import_lookups.absent or self._is_visited(key):
            return None
        with self._following(key):
            value = self._follow(state, module, name)
        if value is None and not self.loading and len(self._visiting) == 0:
            self.machine.unit.import_lookups.absent.add(key)
        return value

    @contextmanager
    def _following(self, key: tuple[str, str]) -> Iterator[None]:
        """While this lasts, a name of a module is followed."""
        self._visiting[key] = len(self.loading)
        try:
            yield
        finally:
            del self._visiting[key]

    def _is_visited(self, key: tuple[str, str]) -> bool:
        """Whether a name of a module is just being followed. What does not follow it therefore, and began to be loaded
        after that, might have done so elsewhere.
        """
        began = self._visiting.get(key)
        if began is None:
            return False
        for module in self.loading[began:]:
            module.step.import_lookups.is_inside_circle = True
        return True

    def _follow(self, state: State, module: LoadedModule, name: str) -> Value | None:
        noted = module.names.get(name)
        if noted is not None:
            target, attribute = noted
            return (
                self.member(state, target, module.path, attribute)
                if attribute
                else self.module(state, target, module.path)
            )
        if name.startswith("_") or name in BUILTINS:
            return None
        for target, importer in reversed(module.stars):
            found = self.find(target, importer)
            if found is None or name not in found[1] and "import *" not in found[1]:
                continue
            loaded = self.load(state, *found)
            if loaded is not None and self.graft(state, loaded):
                value = state.get(loaded.frame, Frame).variables.get(name)
                value = self._noted(state, loaded, name) if value is None else value
                if value is not None:
                    return value
        return None

    # Modules

    def find(self, name: str, importer: str) -> Found | None:
        """The path and text of a module, as long as the budget lasts."""
        found = self.lookups.take(name, importer)
        if found is not None or self.lookups.meaning(name, importer) is not None:
            self.machine.unit.import_lookups.notes.setdefault((name, importer), found is not None)
        return found

    def load(self, state: State, path: str, text: str) -> LoadedModule | None:
        """The module at ``path``, its top level run; None if it cannot be read or is too much. ``state`` needs it."""
        if self.loading:
            self.loading[-1].world = state
        notes, limits, known = self.machine.unit.import_lookups.notes, self.machine.limits, self.modules.get(path)
        if known is not None:
            if self._is_current(known, text):
                notes.setdefault(path, known in self.loading)
                return known
            if self._is_resumed:
                raise Outdated
            self._forget_others()
        source = self._main if path == self._main.path else parsed(text, path)
        if source.is_skipped:
            return None
        if len(self.loading) >= limits.nested_imports or source is self._main:
            self.is_whole = False
        if len(self.loading) >= limits.nested_imports or self._left(path) <= 0:
            notes.setdefault(path, None)
            return None
        notes.setdefault(path, False)
        before = {*self.modules.values()}
        try:
            return self._execute(source, self._limit(path))
        except Cancelled:
            # What ended inside may hold what this one has made so far; no path outside has met any of it.
            self._forget(module for module in [*self.modules.values()] if module not in before)
            raise

    def _is_current(self, module: LoadedModule, text: str) -> bool:
        """Whether a module that is known would be the same if it were executed now."""
        if module in self.met:
            return True
        met, spent = self.met.copy(), self.spent.copy()
        if module.source.text == text and self._meets(module):
            return True
        self.met, self.spent = met, spent
        return False

    def _forget_others(self) -> None:
        """Forget the modules that this analysis has not met: one of them would not be the same now, and others may hold
        what it has made.
        """
        self._forget(module for module in [*self.modules.values()] if module not in self.met)

    def _forget(self, modules: Iterable[LoadedModule]) -> None:
        for module in modules:
            del self.modules[module.path], self.by_frame[module.frame]

    def _limit(self, path: str) -> int:
        """Fuel for the top level of a module."""
        return min(self.machine.limits.module_fuel, self._left(path))

    def _left(self, path: str) -> int:
        """Fuel for all modules that are still to come, of the workspace or of libraries."""
        limits, is_library = self.machine.limits, self.lookups.is_library(path)
        return (limits.all_libraries_fuel if is_library else limits.all_modules_fuel) - self.spent[is_library]

    def repeat(self, step: AnalysisUnit) -> bool:
        """Whether a step that was made for an older text would look up the same now, after all that came before it."""
        return all(self._answers(what, then) for what, then in step.import_lookups.notes.items())

    def _answers(self, what: tuple[str, str] | str, then: bool | None) -> bool:
        if isinstance(what, tuple):
            return (self.lookups.take(*what) is not None) is then
        module = self.modules.get(what)
        if module is None:
            return then is None and self._left(what) <= 0
        return (module in self.loading) is then and self._meets(module)

    def _meets(self, module: LoadedModule) -> bool:
        """Whether a module would be the same if it were executed now; if it was for this text, it is."""
        if module in self.met:
            return True
        step, limit = module.step, self._limit(module.path)
        if limit <= 0 or not step.is_valid_within(limit) or step.is_truncated and limit != step.fuel:
            return False
        self.met[module] = None
        self.loading.append(module)
        is_same = self._means_the_same(module) and self.repeat(step)
        self.loading.pop()
        self.spent[self.lookups.is_library(module.path)] += step.fuel_used
        return is_same

    def _means_the_same(self, module: LoadedModule) -> bool:
        """Whether all that was asked about other files while a module was executed has the same answer, even if it is
        another file now that is analysed.
        """
        notes, then, now = module.step.import_lookups, module.main, self._main.tree
        return (
            all(self.lookups.meaning(*import_) == found for import_, found in notes.meanings.items())
            and all(
                path in self.modules and self._is_torch_free(self.modules[path]) is answer
                for path, answer in notes.torch_free.items()
            )
            and all(
                question(*(now if part is then else part for part in about)) == answer
                for (question, about), answer in module.step.queries.items()
                if then in about
            )
        )

    def _execute(self, source: Source, limit: int) -> LoadedModule:
        state = State()
        given: dict[str, Value] = {"__name__": Const(dotted(source.path)), "__file__": Unknown("__file__", False)}
        frame = state.frame = state.new(Frame(given, 0, 0))
        state.get(frame, Frame).module = frame
        loaded = self.modules[source.path] = self.by_frame[frame] = LoadedModule(source, frame, main=self._main.tree)
        self.met[loaded] = None
        self.loading.append(loaded)
        machine = self.machine
        facts = Facts(EventBus(machine.facts.events.listeners, enclosing_handlers=1))
        try:
            with machine.detached(), recorded(machine, facts, (), limit) as loaded.step:
                ends = top_level(machine, state, loaded, machine.limits.module_fuel)
        finally:
            self.loading.pop()
        facts.events.listeners = []  # other files take the module over, and would keep this file's machine by them
        self.spent[self.lookups.is_library(source.path)] += loaded.step.fuel_used
        self._finish(loaded, ends)
        return loaded

    def _finish(self, loaded: LoadedModule, ends: list[State]) -> None:
        """Keep one end; what the others do not agree with is unknown."""
        world = loaded.world = ends[0]
        scope = world.edit(loaded.frame, Frame)
        for other in ends[1:]:
            theirs = other.get(loaded.frame, Frame).variables
            for name, value in list(scope.variables.items()):
                if theirs.get(name) != value:
                    scope.variables[name] = Unknown(name)
        loaded.claim(world, self._owner)
        foreign = {key: thing for need in loaded.needs for key, thing in need.own.items() if need is not loaded}
        loaded.changed = [
            (key, before, world.heap[key])
            for key, before in foreign.items()
            if key in world.heap and world.heap[key] is not before
        ]

    def graft(self, state: State, module: LoadedModule) -> bool:
        """Give a path what a module made, unless it has it; False if nothing is known of that.

        A module whose top level is running, because it imports what imports it, gives what it has made so far.
        """
        if self.loading:
            self.loading[-1].needs[module] = None
        if module.frame not in state.heap and module.world is not None:
            for each in lacking(state, module):
                self._give(state, each)
        return module.frame in state.heap

    def _give(self, state: State, module: LoadedModule) -> None:
        is_running = module in self.loading
        if is_running and module.world is not None:
            module.claim(module.world, self._owner)
        if module not in self.machine.unit.loads:
            self.machine.unit.loads[module] = None
            assert module.step.facts is not None
            self.machine.facts.merge_from(module.step.facts)
            self.machine.unit.called |= module.step.called
            self.machine.unit.led |= module.step.led
        module.give(state)
        if not is_running and module.world is not None and module.world.grad_mode is not True:
            # `torch.set_grad_enabled(False)` at its top level holds from now on
            state.grad_mode, state.inference = module.world.grad_mode, module.world.inference


class TorchFreeModules:
    """Which modules are far from PyTorch: neither they nor anything they import from the workspace mentions it, and
    they import nothing by a name that is made up while they run.
    """

    def __init__(self, find: Callable[[str, str], tuple[str, str] | None]) -> None:
        self._find = find
        self._known: dict[str, bool] = {}

    def holds(self, path: str, text: str) -> bool:
        if path not in self._known:
            self._known[path] = not may_use_torch(text) and "import_module" not in text
            if self._known[path]:
                found = (self._find(name, path) for name in imported(text))
                self._known[path] = all(self.holds(*module) for module in found if module is not None)
        return self._known[path]


def is_plain(state: State, value: Value, depth: int = 3) -> bool:
    """Whether a value is plain data for certain: numbers, text, what is unknown, containers and objects of such."""
    if isinstance(value, (Const, Unknown, External, Module)):
        return True
    if depth and isinstance(value, Tuple):
        return all(is_plain(state, item, depth - 1) for item in value.items)
    if depth and isinstance(value, HeapRef):
        thing = state.heap[value.id]
        if isinstance(thing, Sequence):
            return all(is_plain(state, item, depth - 1) for item in thing.items)
        if isinstance(thing, (Mapping, Instance)):
            inside = thing.items if isinstance(thing, Mapping) else thing.attributes
            return all(is_plain(state, item, depth - 1) for item in inside.values())
    return False


def keeps_code(state: State, frame: int) -> bool:
    """Whether a module has a dict that others have filled with classes or functions: a registry."""
    held = (
        state.heap.get(value.id) for value in state.get(frame, Frame).variables.values() if isinstance(value, HeapRef)
    )
    return any(
        isinstance(item, Function) or isinstance(item, HeapRef) and isinstance(state.heap.get(item.id), Class)
        for thing in held
        if isinstance(thing, Mapping)
        for item in thing.items.values()
    )
