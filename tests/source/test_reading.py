"""Files are decoded as Python would decode them; what it would not read is refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapelint.source import SourceError, read


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        ("é = 1\n".encode(), "é = 1\n"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n"),
        (b"# -*- coding: future_fstrings -*-\nx = f'\xc3\xa9'\n", "# -*- coding: future_fstrings -*-\nx = f'é'\n"),
        (b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '\x80'\n", None),
        (b"x = 1\r\ny = 2\rz = 3\n", "x = 1\r\ny = 2\rz = 3\n"),
    ],
)
def test_encodings(tmp_path: Path, data: bytes, text: str | None) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(data)
    assert read(file) == text if text is not None else "€" in read(file)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x7fELF\0\0", "binary"),
        (b"x = '\xe9'\n", "not valid utf-8"),
        (b"# coding: no-such-codec\nx = '\xe9'\n", "unknown encoding: no-such-codec"),
        (b"# coding: hex\n", "hex"),
        (b"\xef\xbb\xbf# coding: latin-1\n", "encoding problem"),
        ("x = 1\n".encode("utf-16"), "binary"),
    ],
)
def test_undecodable_files_are_refused(tmp_path: Path, data: bytes, message: str) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(data)
    with pytest.raises(SourceError, match=message):
        read(file)


def test_paths_without_a_regular_file_are_refused(tmp_path: Path) -> None:
    for path, message in [(tmp_path, "not a regular file"), (tmp_path / "none.py", "No such file"), ("a\0b", "null")]:
        with pytest.raises(SourceError, match=message):
            read(path)
