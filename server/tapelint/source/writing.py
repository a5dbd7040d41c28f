"""Text to a file, as it was before: encoding, byte order mark and line ends, owner, permissions, extended attributes
and links. What the user may not write is not written.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator

from .reading import SourceError, decode, encoding_of


def rewrite(path: str, before: str, after: str) -> None:
    """Replace a file's text ``before`` by ``after``. An interruption leaves the one or the other, never half of it.

    Raises SourceError, and leaves the file alone, where the user may not write it, where it holds another text by now
    or cannot hold the new one.
    """
    path = os.path.realpath(path)
    try:
        with uninterrupted(), open(path, "r+b", buffering=0) as file:  # refused where the file must not be written
            data = file.read()
            if decode(data) != before:
                raise SourceError("it was changed in the meantime")
            _write(path, file, data, encoded(data, after))
    except OSError as error:
        raise SourceError(error.strerror or str(error)) from error


def encoded(data: bytes, after: str) -> bytes:
    """A text in the encoding, and with the mark, that the file's bytes ``data`` have."""
    encoding = encoding_of(data)
    try:
        result = after.encode(encoding)
    except UnicodeEncodeError as error:
        raise SourceError(f"the new text cannot be written in {encoding}") from error
    if decode(result) != after:
        raise SourceError(f"the new text would not be read back from {encoding}")
    return result


def _write(path: str, file: io.FileIO, old: bytes, new: bytes) -> None:
    """In one step where another file can take the place of this one and only the text would differ; else in
    place, with a copy of the old text beside it for as long as that takes.
    """
    with _beside(path, new) as temporary:
        if temporary and _made_alike(temporary, path, os.fstat(file.fileno())):
            with contextlib.suppress(OSError):  # a mount point cannot be replaced
                os.replace(temporary, path)
                return
    with _beside(path, old):
        try:
            _overwrite(file, new)
        except BaseException:
            _overwrite(file, old)
            raise


@contextlib.contextmanager
def _beside(path: str, data: bytes) -> Iterator[str | None]:
    """A new file in the folder of ``path`` that holds ``data``, and is gone afterwards; None where the user may not
    make one there.
    """
    try:
        handle, temporary = tempfile.mkstemp(prefix=".tapelint-", dir=os.path.dirname(path))
    except PermissionError:
        yield None
        return
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def _made_alike(temporary: str, path: str, status: os.stat_result) -> bool:
    """Give a new file the owner, the permissions and the attributes of another; whether it then has them all."""
    if status.st_nlink != 1 or not hasattr(os, "listxattr"):  # elsewhere there may be attributes that Python cannot see
        return False
    try:
        os.chown(temporary, status.st_uid, status.st_gid)
        shutil.copymode(path, temporary)
        wanted = _attributes(path)
        for name, value in wanted.items():
            os.setxattr(temporary, name, value)
        made = os.stat(temporary)
        return (made.st_mode, _attributes(temporary)) == (status.st_mode, wanted)
    except OSError:
        return False


def _attributes(path: str) -> dict[str, bytes]:
    try:
        return {name: os.getxattr(path, name) for name in os.listxattr(path)}
    except OSError as error:
        if error.errno == errno.ENOTSUP:
            return {}
        raise


def _overwrite(file: io.FileIO, data: bytes) -> None:
    """Write over what is there, and cut the file off only when all of that has succeeded."""
    file.seek(0)
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) or 0 :]
    file.truncate()
    os.fsync(file.fileno())


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """In here signals that end a process wait, also for processes that are started."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
