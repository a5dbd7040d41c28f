"""What counts for a folder is looked for upward, and each folder is asked once."""

from __future__ import annotations

import sys

from tapelint.workspace.files import Nearest


def test_each_folder_is_asked_once() -> None:
    asked: list[str] = []

    def own(folder: str) -> str | None:
        asked.append(folder)
        return f"of {folder}" if folder in ("/a", "/a/b/c") else None

    nearest = Nearest(own)
    assert [nearest(folder) for folder in ("/a/b", "/a/b/c/d", "/a/b/c", "/x", "/")] == [
        *("of /a", "of /a/b/c", "of /a/b/c", None, None)
    ]
    assert sorted(asked) == ["/", "/a", "/a/b", "/a/b/c", "/a/b/c/d", "/x"]
    nearest.forget()
    assert nearest("/a") == "of /a" and asked[-1] == "/a"


def test_folders_may_be_deeper_than_python_recurses() -> None:
    deep = "/a" * 3 * sys.getrecursionlimit()
    assert Nearest(lambda folder: len(folder) if folder == "/a" else None)(deep) == 2
