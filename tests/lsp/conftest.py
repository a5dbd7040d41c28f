"""The server as editors see it: spoken to over two pipes, in this process or in one of its own."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from lsprotocol.converters import get_converter

sys.path.insert(0, str(Path(__file__).parent))

from clients import PUSHED, VSCODE
from wire import COMMAND, ENVIRONMENT, Wire


def make_client() -> pytest_lsp.LanguageClient:
    """pytest-lsp's client, which also lets the server register for changes and remembers what it said of itself."""
    client = pytest_lsp.make_test_lsp_client()
    client.registered, client.statuses = [], []

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def register(params: types.RegistrationParams) -> None:
        client.registered += [registration.method for registration in params.registrations]

    @client.feature("tapelint/status")
    def status(params) -> None:
        client.statuses.append(params.state)

    return client


@pytest_lsp.fixture(config=pytest_lsp.ClientServerConfig(COMMAND, make_client, ENVIRONMENT), scope="module")
async def vscode(lsp_client: pytest_lsp.LanguageClient, tmp_path_factory: pytest.TempPathFactory):
    """A client with the abilities of VS Code, opened on a folder."""
    capabilities = get_converter().structure(VSCODE, types.ClientCapabilities)
    folder = types.WorkspaceFolder(tmp_path_factory.getbasetemp().as_uri(), "tests")
    await lsp_client.initialize_session(types.InitializeParams(capabilities, workspace_folders=[folder]))
    yield
    await lsp_client.shutdown_session()


@pytest.fixture
def wire() -> Iterator[Wire]:
    """A server nothing was said to yet."""
    wire = Wire()
    yield wire
    wire.close()


@pytest.fixture(scope="module")
def shared() -> Iterator[Wire]:
    """A server that pushes its findings, for all tests of a file that do not end it."""
    wire = Wire()
    wire.start(PUSHED)
    yield wire
    wire.close()


@pytest.fixture
def pushed(shared: Wire) -> Iterator[Wire]:
    """The shared server; whatever a test did to it, it must still answer and must not have bothered the user."""
    shared.seen.clear()
    yield shared
    assert shared.request("tapelint/ping")["error"]["code"] == -32601
    assert not any(message.get("method") == "window/showMessage" for message in shared.seen)


@pytest.fixture
def uri(request: pytest.FixtureRequest) -> str:
    """A document of this test's own."""
    name = re.sub(r"\W+", "_", request.node.name)
    return f"file:///project/{name}.py"
