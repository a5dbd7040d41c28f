"""What pytest is set up to collect is read where pytest reads it, and decides which findings are those of tests."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tapelint.analysis import analyse
from tapelint.severity import Severity
from tapelint.source.pytest_files import TestConventions
from tapelint.workspace import load
from tapelint.workspace.config import forget

TWICE = """\
import torch

def check_losses():
    net = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        net(torch.ones(2, 3)).mean().backward()
        optimizer.step()
"""
SETTINGS = [
    ("pytest.ini", "[pytest]\npython_files = check_*.py\npython_functions = check\n"),
    ("tox.ini", "[pytest]\npython_files = check_*.py\npython_functions = check_*\n"),
    ("setup.cfg", "[tool:pytest]\npython_files = test_*.py check_*.py\npython_functions = test check\n"),
    ("pyproject.toml", '[tool.pytest.ini_options]\npython_files = ["check_*.py"]\npython_functions = "check"\n'),
]


@pytest.mark.parametrize(("name", "text"), SETTINGS, ids=[name for name, _ in SETTINGS])
def test_the_configuration_of_pytest_is_read(tmp_path: Path, name: str, text: str) -> None:
    forget()
    file = tmp_path / "checks" / "check_net.py"
    file.parent.mkdir()
    (tmp_path / name).write_text(text)
    tests = load(file).tests
    assert tests.is_test_file(str(file)) and not tests.is_test_file(str(tmp_path / "net.py"))
    assert tests.is_test_function("check_losses") and not tests.is_test_function("losses")
    (found,) = analyse(TWICE, str(file), load(file)).diagnostics
    assert (found.code, found.severity) == ("TL401", Severity.INFORMATION)
    assert found.rests_on[-1].kind == "tested"


def test_the_paths_that_are_searched_count_where_files_are_named(tmp_path: Path) -> None:
    forget()
    (tmp_path / "pytest.ini").write_text("[pytest]\npython_files = *.py\ntestpaths = tests\n")
    tests = load(tmp_path).tests
    assert tests.is_test_file(str(tmp_path / "tests" / "unit" / "net.py"))
    assert not tests.is_test_file(str(tmp_path / "src" / "net.py"))


@pytest.mark.parametrize("text", ["", "[pytest", "[other]\npython_files = x.py\n", "[pytest]\n=\n"])
def test_what_cannot_be_read_says_nothing(tmp_path: Path, text: str) -> None:
    forget()
    (tmp_path / "tox.ini").write_text(text)
    (tmp_path / "pyproject.toml").write_text("[tool.pytest")
    assert load(tmp_path).tests.files == TestConventions().files


def test_the_files_of_pytest_as_it_is_set_up() -> None:
    tests = TestConventions()
    assert tests.is_test_file("tests/test_net.py") and tests.is_test_file("net_test.py")
    assert not tests.is_test_file("tests/net.py") and not tests.is_test_file("tests/conftest.py")
    assert tests.serves_tests("tests/conftest.py", ast.parse(""))
    assert tests.is_test_class("TestNet") and not tests.is_test_class("NetTest")


@pytest.mark.parametrize(
    ("text", "serves"),
    [
        ("def test_forward(): ...", True),
        ("class TestNet:\n    net = None", True),
        ("import unittest\nclass Forward(unittest.TestCase):\n    def runTest(self): ...", True),
        ("from suites import TestNet", True),
        ("from suites import *", True),
        ("import pytest\n@pytest.fixture\ndef net(): ...", True),
        ("def train(net, x): ...", True),
        ("import torch\ndef train(): ...\ntrain()", False),
        ("import torch\nfor epoch in range(3):\n    print(epoch)", False),
        ("from net import Net\ndef evaluate(): ...\ndef main():\n    evaluate()\nmain()", False),
    ],
)
def test_a_script_that_is_called_like_a_file_of_tests_is_none(text: str, serves: bool) -> None:
    assert TestConventions().serves_tests("copymem_test.py", ast.parse(text)) is serves
    assert not TestConventions().serves_tests("copymem.py", ast.parse(text))
