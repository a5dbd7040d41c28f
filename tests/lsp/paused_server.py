"""The real server with a clock of the test's: the user pauses when ``test/pause`` says so."""

from __future__ import annotations

from tapelint.lsp import session
from tapelint.lsp.delays import Delays
from tapelint.lsp.server import Server, serve

session.DELAYS = Delays(pause=1_000_000.0, edit=0.0, shortest_edit=0.0)

register = Server._register


def registered(self: Server) -> None:
    register(self)
    self.feature("test/pause")(paused)


def paused(ls: Server, params) -> None:
    ls.session.paused(params.uri)


Server._register = registered

if __name__ == "__main__":
    serve()
