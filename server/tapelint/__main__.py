"""``python -m tapelint``, which is the command ``tapelint``: here the two shells, terminal and editor, meet.

The folder that is analysed is not trusted: a ``click.py`` or ``typing.py`` in it must not be imported. It gets on
``sys.path`` by ``-m``, which puts the current folder first, and by ``PYTHONPATH``, where projects name their own
folders. So both are taken off before anything else is loaded, here and for the processes that are started. Of
``PYTHONPATH`` stays what is an installation: it has the metadata of packages, or tapelint itself.
"""

import os
import sys


def _is_installation(folder: str) -> bool:
    if folder in (os.path.dirname(os.path.dirname(__file__)), os.path.dirname(os.__file__)):
        return True
    try:
        return any(name.endswith(".dist-info") for name in os.listdir(folder))
    except OSError:
        return True  # it holds nothing that could be imported, or is an archive


def _distrust(is_module: bool) -> None:
    """Take folders of projects off ``sys.path``; it ``is_module`` that was started with ``-m``."""
    try:
        here = os.getcwd()
    except OSError:
        return  # it was deleted: nothing can be imported from there
    if is_module and not sys.flags.isolated and sys.path[:1] in ([""], [here]):
        del sys.path[0]
    named = os.environ.get("PYTHONPATH")
    if not named or sys.flags.ignore_environment:
        return
    folders = [os.path.abspath(folder) for folder in named.split(os.pathsep)]
    trusted = [folder for folder in folders if _is_installation(folder)]
    distrusted = {*folders} - {*trusted}
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) not in distrusted]
    os.environ["PYTHONPATH"] = os.pathsep.join(trusted)


_distrust(__name__ == "__main__")

from tapelint.cli import main as run  # noqa: E402


def main() -> None:
    """Run the command line and exit."""
    run(_serve)


def _serve() -> None:
    from tapelint.lsp.server import serve

    serve()


if __name__ == "__main__":
    main()
