"""``python -m tapelint``, which is the command ``tapelint``: here the two shells, terminal and editor, meet."""

from __future__ import annotations

from tapelint.cli import main as run


def main() -> None:
    """Run the command line and exit."""
    run(_serve)


def _serve() -> None:
    from tapelint.lsp import serve

    serve()


if __name__ == "__main__":
    main()
