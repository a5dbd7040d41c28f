"""Takes the place of ``libcst.native`` where nothing can be compiled: libcst's older parser, which is Python.

It reads the grammar of Python 3.8. A statement with newer syntax it refuses (``ParserSyntaxError``), and tapelint then
offers no fix that would edit this statement.
"""

from __future__ import annotations

from typing import Any

from libcst._parser.detect_config import detect_config
from libcst._parser.grammar import get_grammar
from libcst._parser.python_parser import PythonCSTParser
from libcst._parser.types.config import PartialParserConfig

GRAMMAR = "3.8"
"""The newest that the parser has."""


def parse_module(source: str, encoding: str | None = None) -> Any:
    """The concrete syntax of a file. Raises libcst.ParserSyntaxError."""
    return _parsed("file_input", source, encoding or "utf-8")


def parse_statement(source: str) -> Any:
    """The concrete syntax of a statement. Raises libcst.ParserSyntaxError."""
    return _parsed("stmt_input", source)


def parse_expression(source: str) -> Any:
    """The concrete syntax of an expression. Raises libcst.ParserSyntaxError."""
    return _parsed("expression_input", source)


def _parsed(start: str, source: str, encoding: str = "utf-8") -> Any:
    found: Any = detect_config(
        source,
        partial=PartialParserConfig(python_version=GRAMMAR, encoding=encoding),
        detect_trailing_newline=start == "file_input",
        detect_default_newline=start == "file_input",
    )
    grammar = get_grammar(found.config.version, found.config.future_imports)
    parser = PythonCSTParser(tokens=found.tokens, config=found.config, pgen_grammar=grammar, start_nonterminal=start)
    return parser.parse()
