"""Frameworks as small programs: what a training step of theirs does, in the words of the language itself.

    import deepspeed
    engine, _, _, _ = deepspeed.initialize(model=net, optimizer=opt, config={...})
    engine.backward(loss)            # programs/deepspeed.py: loss.backward(retain_graph=retain_graph)

Where a program imports one of these and its folder has none of its own, what is here is executed in its place, as any
other module would be. What is not there is as unknown as the rest of a library. In our tests real PyTorch runs the same
files in the frameworks' place, so they may not say anything that only we understand.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

Resolve = Callable[[str, str], "tuple[str, str] | None"]
"""``resolve(module, importer)`` is the path and the text of a module as the file ``importer`` names it
(``a.b``, ``..c``), or None where it is not one of the workspace. A package without a file of its own has an empty
text. A name that begins with ``INSTALLED`` is a module of a library."""

INSTALLED = "installed:"
"""What begins with this is the dotted name of a module of an installed library; with ``:name`` behind it, of the module
that defines a name of it."""

PROGRAMS = Path(__file__).resolve().parent / "programs"

_TOLD = {
    "absl": "absl/__init__.py",
    "absl.app": "absl/app.py",
    "absl.flags": "absl/flags.py",
    "apex": "apex/__init__.py",
    "apex.amp": "apex/amp.py",
    "composer": "composer/__init__.py",
    "composer.models": "composer/models.py",
    "contextlib": "exit_stacks.py",
    "deepspeed": "deepspeed.py",
    "fastai": "fastai/__init__.py",
    **{f"fastai.{part}.all": "fastai/basics.py" for part in ("callback", "data", "tabular", "text", "vision")},
    **{f"fastai.{part}": "fastai/basics.py" for part in ("basics", "callback.core", "data.core")},
    "fastai.learner": "fastai/learner.py",
    "ignite": "ignite/__init__.py",
    "ignite.engine": "ignite/engine.py",
    "sklearn": "sklearn/__init__.py",
    "sklearn.model_selection": "sklearn/model_selection.py",
    "sklearn.pipeline": "sklearn/pipeline.py",
    "skorch": "skorch/__init__.py",
    "skorch.callbacks": "skorch/callbacks.py",
    "skorch.classifier": "skorch/classifier.py",
    "skorch.dataset": "skorch/dataset.py",
    "skorch.helper": "skorch/helper.py",
    "skorch.net": "skorch/net.py",
    "skorch.regressor": "skorch/regressor.py",
    "skorch.utils": "skorch/utils.py",
    "transformers": "transformers/__init__.py",
    "transformers.trainer": "transformers/trainer.py",
    "trl": "trl/__init__.py",
}
_NAMES = {str(PROGRAMS / file): name for name, file in _TOLD.items()}


def find_stub(name: str, importer: str) -> tuple[str, str] | None:
    """The path and the text of the program that tells the module ``name``, as ``importer`` calls it."""
    if name.startswith("."):
        parent = _NAMES.get(importer)
        return find_stub(parent + name, "") if parent is not None else None
    return _read(_TOLD[name]) if name in _TOLD else None


def with_stubs(resolve: Resolve) -> Resolve:
    """As ``resolve``, and where it finds nothing, what is here."""
    return lambda name, importer: resolve(name, importer) or find_stub(name, importer)


def stub_module_name(path: str) -> str | None:
    """The dotted name of the module that the program at ``path`` tells, if it is one of these."""
    return _NAMES.get(path)


@cache
def _read(file: str) -> tuple[str, str]:
    path = PROGRAMS / file
    return str(path), path.read_text(encoding="utf-8")
