"""Bytes to text, as Python itself would decode a source file.

>>> decode(b"# -*- coding: latin-1 -*-\\nname = '\\xe9'\\n")
"# -*- coding: latin-1 -*-\\nname = 'é'\\n"
"""

from __future__ import annotations

import io
import os
import stat
import tokenize

INIT = "__init__.py"
"""The file that makes a folder a package, and is its module."""


class SourceError(Exception):
    """A file that cannot be read as Python text. The message is a sentence for the user, without the file's name."""


def read(path: str | os.PathLike[str]) -> str:
    """The text of a file: coding line and byte order mark obeyed (the mark is not part of the text), line ends kept."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise SourceError("not a regular file")
        with open(path, "rb") as file:
            return decode(file.read())
    except OSError as error:
        raise SourceError(error.strerror or str(error)) from error
    except ValueError as error:  # a NUL in the path
        raise SourceError(str(error)) from error


def encoding_of(data: bytes) -> str:
    """The encoding that a file's bytes have by their mark or coding line. A codec that Python does not know comes with
    a package of the project, such as ``future_fstrings``: these extend UTF-8, so text that is valid UTF-8 is that.
    """
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError as error:
        if not error.msg.startswith("unknown encoding"):
            raise
        try:
            data.decode()
        except UnicodeDecodeError:
            raise error from None
        return "utf-8"


def decode(data: bytes) -> str:
    """The text of a file's bytes; see :func:`read`."""
    if b"\0" in data:
        raise SourceError("a binary file, not Python source")
    try:
        return data.decode(encoding_of(data))
    except UnicodeDecodeError as error:
        raise SourceError(
            f"not valid {error.encoding} (byte 0x{data[error.start]:02x} at offset {error.start})"
        ) from error
    except SyntaxError as error:
        if "invalid or missing" in error.msg:
            raise SourceError("not valid utf-8, and no coding line says what else it is") from error
        raise SourceError(error.msg.partition(" for ")[0]) from error
    except LookupError as error:  # a codec that is not one of text, such as "hex"
        raise SourceError(str(error)) from error
