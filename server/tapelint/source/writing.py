"""Text to a file, as it was before: its encoding, byte order mark, line ends and permissions."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import tempfile
import tokenize

from .reading import SourceError, decode


def rewrite(path: str, before: str, after: str) -> None:
    """Replace a file's text ``before`` by ``after``, in one step: nobody ever sees half of it.

    Raises SourceError, and leaves the file alone, where it holds another text by now or cannot hold the new one.
    """
    path = os.path.realpath(path)
    try:
        with open(path, "rb") as file:
            data = file.read()
        if decode(data) != before:
            raise SourceError("it was changed in the meantime")
        _replace(path, encoded(data, after))
    except OSError as error:
        raise SourceError(error.strerror or str(error)) from error


def encoded(data: bytes, after: str) -> bytes:
    """A text in the encoding, and with the mark, that the file's bytes ``data`` have."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    try:
        result = after.encode(encoding)
    except UnicodeEncodeError as error:
        raise SourceError(f"the new text cannot be written in {encoding}") from error
    if decode(result) != after:
        raise SourceError(f"the new text would not be read back from {encoding}")
    return result


def _replace(path: str, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(prefix=".tapelint-", dir=os.path.dirname(path))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
