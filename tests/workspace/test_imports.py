"""Imports followed by the analysis: circles, budgets, what one module does to another, fixes beside other files."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tapelint.analysis import Report, analyse, fixes

HEAD = "import torch\n"
EXP = "y = torch.ones(3, requires_grad=True).exp().sum()\n"
TWICE = EXP + "finish(y)\nfinish(y)\n"
MAKE = "def make():\n    from b import finish\n    return finish\n"
FINISH = HEAD + "def finish(loss):\n    loss.backward()\n"


def beside(files: dict[str, str], asked: list[str] | None = None) -> Callable[[str, str], tuple[str, str] | None]:
    """A resolver over texts: ``a.b`` is the file ``a/b.py`` or ``a/b/__init__.py``; relative names count folders."""

    def resolve(module: str, importer: str) -> tuple[str, str] | None:
        names = module.lstrip(".")
        level = len(module) - len(names)
        folder = importer.split("/")[:-level] if level else []
        base = "/".join([*folder, *filter(None, names.split("."))])
        for path in (f"{base}.py", f"{base}/__init__.py"):
            if path in files:
                if asked is not None:
                    asked.append(path)
                return path, files[path]
        return None

    return resolve


def report(main: str, files: dict[str, str]) -> Report:
    found = analyse(HEAD + main, "main.py", resolve=beside(files))
    assert not found.stats["faults"]
    return found


def codes(main: str, files: dict[str, str]) -> list[str]:
    return [diagnostic.code for diagnostic in report(main, files).diagnostics]


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("from a import finish", {"a.py": FINISH}),
        ("from a import *", {"a.py": FINISH}),
        ("from a import *", {"a.py": "from b import *\n", "b.py": FINISH}),
        ("from a import *", {"a.py": "from a import *\nfrom b import *\n", "b.py": "from a import *\n" + FINISH}),
        ("from p import finish", {"p/__init__.py": "from .q import finish\n", "p/q.py": FINISH}),
        ("from p.q import finish", {"p/__init__.py": "", "p/q.py": FINISH}),
        ("import p.q as r\nfinish = r.finish", {"p/__init__.py": "", "p/q.py": FINISH}),
        ("import p.q\nfinish = p.q.finish", {"p/__init__.py": "", "p/q.py": FINISH}),
        ("from a import finish as finish", {"a.py": "from main import other\n" + FINISH}),
        ("from a import finish", {"a.py": "import b\nfinish = b.finish\n", "b.py": "import a\n" + FINISH}),
        ("from a import finish", {"a.py": HEAD + "raise SystemExit\n" + FINISH}),
        ("from a import finish", {"a.py": HEAD + "def broken(:\n\n" + FINISH}),
        ("from a import finish", {"a.py": "try:\n    from none import x\nexcept ImportError:\n    pass\n" + FINISH}),
        ("from a import make\nfinish = make()", {"a.py": MAKE, "b.py": FINISH}),
    ],
)
def test_ways_to_import(line: str, files: dict[str, str]) -> None:
    assert codes(f"{line}\n{TWICE}", files) == ["TL101"]


@pytest.mark.parametrize(
    "files",
    [
        {"a.py": "from a import finish\n"},
        {"a.py": "from b import finish\n", "b.py": "from a import finish\n"},
        {"a.py": "from b import *\n", "b.py": "from a import *\n"},
        {"a.py": "finish = missing.name\n"},
        {"a.py": ""},
        {"a.py": "(" * 5000},
        {"a.py": "def finish(x):\n    return finish(x)\n"},
    ],
)
def test_unresolved_imports_report_nothing(files: dict[str, str]) -> None:
    assert codes(f"from a import finish\n{TWICE}", files) == []


def test_one_module_registers_with_another() -> None:
    registry = "table = {}\ndef register(function):\n    table[function.__name__] = function\n    return function\n"
    files = {
        "registry.py": registry,
        "a.py": HEAD + "from registry import register, table\n@register\ndef finish(loss):\n    loss.backward()\n",
    }
    assert codes(f"import a\nfrom a import finish\n{TWICE}", files) == ["TL101"]


def test_only_needed_modules_are_read() -> None:
    files = {f"p/m{i}.py": HEAD + f"def f{i}(x):\n    return x\n" for i in range(50)}
    files["p/__init__.py"] = "".join(f"from .m{i} import *\n" for i in range(50)) + "from .last import finish\n"
    files["p/last.py"] = FINISH
    found = report(f"from p import finish\n{TWICE}", files)
    assert len(found.diagnostics) == 1
    assert set(found.others) == {"p/__init__.py", "p/last.py"}


def test_import_budgets() -> None:
    chain = {f"m{i}.py": f"from m{i + 1} import finish\n" for i in range(300)} | {"m300.py": FINISH}
    assert codes(f"from m0 import finish\n{TWICE}", chain) in ([], ["TL101"])
    large = {f"m{i}.py": "x = 1\n" * 4_000 + f"import m{i + 1}\ny = m{i + 1}.y\n" for i in range(40)}
    assert report(f"import m0\nz = m0.y\n{EXP}y.backward()\n", large).stats["steps"] < 200_000


def test_all_paths_hold_the_same_module() -> None:
    main = """from a import Net, finish
net = Net()
for x in range(5):
    if unknown:
        from b import one as f
    else:
        from b import two as f
    out = f(net(torch.ones(3))).sum()
    finish(out)
"""
    files = {
        "a.py": FINISH
        + "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        + "        self.layer = torch.nn.Linear(3, 3)\n    def forward(self, x):\n        return self.layer(x)\n",
        "b.py": HEAD + "def one(x):\n    return x\ndef two(x):\n    return x * 2\n",
    }
    found = report(main, files)
    assert not found.diagnostics
    assert found.stats["dropped"] == 0


def test_fixes_edit_the_open_file_only_and_are_verified_with_the_others() -> None:
    main = """from a import finish
w = torch.ones(3, requires_grad=True)
total = torch.zeros(())
for _ in range(3):
    total = total + w.exp().sum()
    finish(total)
"""
    found = report(main, {"a.py": FINISH})
    (diagnostic,) = found.diagnostics
    assert diagnostic.code == "TL102"
    offered = fixes(found, diagnostic)
    assert offered
    rows = len(found.source.lines)
    for fix in offered:
        assert "retain_graph" not in fix.title
        assert all(1 < edit.span.row <= rows for edit in fix.edits)
