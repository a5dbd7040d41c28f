"""Start tapelint from this extension's folder, apart from everything the workspace holds.

The client runs ``python -I -X utf8 launch.py [--from-environment] server``. ``-I`` leaves out the current folder,
PYTHONPATH and the user's site-packages, so a workspace's ``logging.py`` or ``torch.py`` is never imported. What is
bundled comes first on the path: an old ``typing_extensions`` of the environment cannot break the server. A compiled
engine, where the extension has one, is used only by a Python that it was compiled for: others run the sources.
"""

import importlib.machinery
import importlib.util
import os
import runpy
import site
import sys

EXTENSION = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def server() -> str:
    """The folder of the package ``tapelint``: with the engine compiled for this Python, or of sources alone."""
    folder = os.path.join(EXTENSION, "bundled", "compiled", sys.implementation.cache_tag or "")
    library = os.path.join(folder, "tapelint__mypyc")
    is_there = any(os.path.exists(library + end) for end in importlib.machinery.EXTENSION_SUFFIXES)
    return folder if is_there else os.path.join(EXTENSION, "server")


def main() -> None:
    from_environment = "--from-environment" in sys.argv[1:]
    sys.argv[1:] = [argument for argument in sys.argv[1:] if argument != "--from-environment"]
    if from_environment:
        site.addsitedir(site.getusersitepackages())
        if importlib.util.find_spec("tapelint") is None:
            print(f"tapelint is not installed for {sys.executable}: running the bundled one", file=sys.stderr)
            from_environment = False
    if not from_environment:
        sys.path[:0] = [os.path.join(EXTENSION, "bundled", "libs"), server()]
    runpy.run_module("tapelint", run_name="__main__", alter_sys=True)


main()
