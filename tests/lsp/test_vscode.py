"""A session as VS Code holds it: it pulls findings, resolves edits and reads markdown."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from tests.shared_programs import UNSET

from programs import BAD, GOOD, HEAD, SHARED
from wire import MARK

Client = pytest_lsp.LanguageClient

pytestmark = pytest.mark.asyncio(loop_scope="module")


def open_document(client: Client, path: Path, text: str) -> str:
    uri = path.as_uri()
    client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", 1, text)))
    return uri


def change(client: Client, uri: str, version: int, line: int, start: int, end: int, text: str) -> None:
    area = types.Range(types.Position(line, start), types.Position(line, end))
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version, uri), [types.TextDocumentContentChangePartial(area, text)]
        )
    )


async def pull(client: Client, uri: str, previous: str | None = None):
    return await client.text_document_diagnostic_async(
        types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri), previous_result_id=previous)
    )


async def findings(client: Client, uri: str) -> list[types.Diagnostic]:
    return [each for each in (await pull(client, uri)).items if not each.message.startswith(MARK)]


async def actions(client: Client, uri: str, area: types.Range, only: list[str] | None = None):
    context = types.CodeActionContext([], only=only, trigger_kind=types.CodeActionTriggerKind.Invoked)
    return (
        await client.text_document_code_action_async(
            types.CodeActionParams(types.TextDocumentIdentifier(uri), area, context)
        )
        or []
    )


def function(name: str) -> str:
    """The bad program as a function, so that a file can hold it twice."""
    lines = BAD.split("\n\n")[1].splitlines(keepends=True)
    return f"def {name}():\n" + "".join(f"    {line}" for line in lines)


def applied(text: str, action: types.CodeAction, version: int) -> str:
    """The text after the action's edits, which must be made for ``version``. The programs here are ASCII."""
    (document,) = action.edit.document_changes
    assert document.text_document.version == version
    lines = text.splitlines(keepends=True)

    def offset(position: types.Position) -> int:
        return sum(map(len, lines[: position.line])) + position.character

    for edit in sorted(document.edits, key=lambda edit: offset(edit.range.start), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


async def test_a_finding_has_related_information(vscode: Client, tmp_path: Path):
    uri = open_document(vscode, tmp_path / "a.py", BAD)
    (finding,) = await findings(vscode, uri)
    assert finding.severity == types.DiagnosticSeverity.Error
    assert finding.source == "tapelint" and finding.code.startswith("TL")
    assert finding.code_description is None, "a rule without a page has no link"
    assert finding.related_information
    assert {step.location.uri for step in finding.related_information} == {uri}
    assert uri not in vscode.diagnostics, "a client that pulls is not pushed to"


async def test_the_line_at_which_pytorch_raises_is_marked(vscode: Client, tmp_path: Path):
    uri = open_document(vscode, tmp_path / "a.py", BAD)
    (finding,) = await findings(vscode, uri)
    (mark,) = (each for each in (await pull(vscode, uri)).items if each.message.startswith(MARK))
    assert mark.severity == types.DiagnosticSeverity.Hint and mark.code == finding.code
    assert "backward" in BAD.splitlines()[mark.range.start.line] and mark.range != finding.range
    assert [step.location.range for step in mark.related_information or ()] == [finding.range]
    there, here = await actions(vscode, uri, mark.range), await actions(vscode, uri, finding.range)
    assert there and [each.title for each in there] == [each.title for each in here]


async def test_unchanged_diagnostics_are_not_resent(vscode: Client, tmp_path: Path):
    uri = open_document(vscode, tmp_path / "a.py", BAD)
    first = await pull(vscode, uri)
    again = await pull(vscode, uri, first.result_id)
    assert again.kind == "unchanged" and again.result_id == first.result_id
    change(vscode, uri, 2, 3, 4, 11, "x * 2")
    assert (await pull(vscode, uri, first.result_id)).kind == "full"
    assert await findings(vscode, uri) == []


async def test_editing_the_cause_clears_the_finding(vscode: Client, tmp_path: Path):
    uri = open_document(vscode, tmp_path / "a.py", GOOD)
    assert await findings(vscode, uri) == []
    change(vscode, uri, 2, 3, 4, 9, "x.exp()")
    assert len(await findings(vscode, uri)) == 1
    change(vscode, uri, 3, 4, 0, 6, "z = y + 1")
    assert await findings(vscode, uri) == []


async def test_the_preferred_fix_leaves_a_clean_file(vscode: Client, tmp_path: Path):
    uri = open_document(vscode, tmp_path / "a.py", BAD)
    (finding,) = await findings(vscode, uri)
    found = await actions(vscode, uri, finding.range)
    (best,) = [action for action in found if action.is_preferred]
    assert best.kind == types.CodeActionKind.QuickFix and best.edit is None
    resolved = await vscode.code_action_resolve_async(best)
    fixed = applied(BAD, resolved, version=1)
    other = open_document(vscode, tmp_path / "b.py", fixed)
    assert fixed != BAD and await findings(vscode, other) == []


async def test_an_error_without_a_fix_says_why(vscode: Client, tmp_path: Path):
    uri = open_document(vscode, tmp_path / "a.py", UNSET)
    (finding,) = await findings(vscode, uri)
    refused, *others = await actions(vscode, uri, finding.range)
    assert refused.title == "No safe fix for TL508" and refused.edit is None
    assert [each.range for each in refused.diagnostics or ()] == [finding.range]
    assert refused.disabled and refused.disabled.reason == "What `factor` is to be cannot be seen"
    assert all(action.disabled is None for action in others)


async def test_an_unsafe_fix_says_so_and_is_made_when_it_is_chosen(vscode: Client, tmp_path: Path):
    uri = open_document(vscode, tmp_path / "a.py", SHARED)
    (finding,) = await findings(vscode, uri)
    found = [action for action in await actions(vscode, uri, finding.range) if action.data]
    unsafe = [action for action in found if action.title.endswith("[unsafe]")]
    assert unsafe and not any(action.is_preferred for action in unsafe) and len(unsafe) < len(found)
    for action in found:
        edit = (await vscode.code_action_resolve_async(action)).edit
        assert edit.change_annotations is None and edit.document_changes


async def test_a_stale_fix_is_refused(vscode: Client, tmp_path: Path):
    uri = open_document(vscode, tmp_path / "a.py", BAD)
    (finding,) = await findings(vscode, uri)
    (best,) = [action for action in await actions(vscode, uri, finding.range) if action.is_preferred]
    change(vscode, uri, 2, 0, 0, 0, "# new\n")
    with pytest.raises(JsonRpcException) as refused:
        await vscode.code_action_resolve_async(best)
    assert refused.value.code == types.LSPErrorCodes.ContentModified.value


async def test_ignoring_a_finding(vscode: Client, tmp_path: Path):
    uri = open_document(vscode, tmp_path / "a.py", BAD)
    (finding,) = await findings(vscode, uri)
    title = f"Ignore {finding.code} on this line"
    (ignore,) = [action for action in await actions(vscode, uri, finding.range) if action.title == title]
    ignored = applied(BAD, ignore, version=1)
    assert f"  # tapelint: ignore[{finding.code}]\n" in ignored
    assert await findings(vscode, open_document(vscode, tmp_path / "b.py", ignored)) == []


async def test_fix_all_on_save_only_if_configured(vscode: Client, tmp_path: Path):
    text = f"import torch\n\n\n{function('one')}\n\n{function('other')}"
    uri = open_document(vscode, tmp_path / "a.py", text)
    found = await findings(vscode, uri)
    assert len(found) == 2
    kinds = {action.kind for action in await actions(vscode, uri, found[0].range)}
    assert kinds == {types.CodeActionKind.QuickFix}
    whole = types.Range(types.Position(0, 0), types.Position(99, 0))
    (everything,) = await actions(vscode, uri, whole, only=["source.fixAll"])
    assert everything.kind == "source.fixAll.tapelint"
    fixed = applied(text, await vscode.code_action_resolve_async(everything), version=1)
    assert await findings(vscode, open_document(vscode, tmp_path / "b.py", fixed)) == []


async def test_hover(vscode: Client, tmp_path: Path):
    uri = open_document(vscode, tmp_path / "a.py", BAD)
    where = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(3, 0))
    hover = await vscode.text_document_hover_async(where)
    assert hover.contents.kind == types.MarkupKind.Markdown and hover.contents.value
    assert hover.range.start.line == 3
    where = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(9999, 9999))
    assert await vscode.text_document_hover_async(where) is None


async def test_settings_are_asked_for_and_followed(vscode: Client, tmp_path: Path):
    uri = open_document(vscode, tmp_path / "a.py", BAD)
    (finding,) = await findings(vscode, uri)
    refreshed = vscode.diagnostic_refresh_count
    vscode.set_configuration({"ignore": [finding.code]}, section="tapelint")
    vscode.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
    await _until(lambda: vscode.diagnostic_refresh_count > refreshed)
    assert await findings(vscode, uri) == []
    vscode.set_configuration({"enable": False}, section="tapelint")
    vscode.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
    await _until(lambda: vscode.diagnostic_refresh_count > refreshed + 1)
    assert await findings(vscode, uri) == []
    vscode.set_configuration({}, section="tapelint")
    vscode.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
    await _until(lambda: vscode.diagnostic_refresh_count > refreshed + 2)
    assert len(await findings(vscode, uri)) == 1


async def test_unchanged_settings_restart_nothing(vscode: Client, tmp_path: Path):
    """VS Code sends the notification as soon as the server registers for it, while the first files are analysed."""
    uri = open_document(vscode, tmp_path / "a.py", BAD)
    before = vscode.diagnostic_refresh_count
    vscode.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
    (finding,) = await findings(vscode, uri)
    assert await actions(vscode, uri, finding.range)
    for count, settings in enumerate(({"ignore": [finding.code]}, {}), before + 1):
        vscode.set_configuration(settings, section="tapelint")
        vscode.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
        await _until(lambda count=count: vscode.diagnostic_refresh_count >= count)
        assert vscode.diagnostic_refresh_count == count


async def test_configuration_files_are_followed(vscode: Client, tmp_path: Path):
    uri = open_document(vscode, tmp_path / "a.py", BAD)
    (finding,) = await findings(vscode, uri)
    file = tmp_path / "tapelint.toml"
    file.write_text(f'ignore = ["{finding.code}"]\n', encoding="utf-8")
    created = types.FileEvent(file.as_uri(), types.FileChangeType.Created)
    vscode.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([created]))
    assert await findings(vscode, uri) == []
    assert types.WORKSPACE_DID_CHANGE_WATCHED_FILES in vscode.registered


async def test_status_is_sent_only_on_change(vscode: Client, tmp_path: Path):
    for name in ("a.py", "b.py"):
        await findings(vscode, open_document(vscode, tmp_path / name, BAD))
    assert set(vscode.statuses) <= {"ready", "busy"}
    assert all(one != other for one, other in zip(vscode.statuses, vscode.statuses[1:]))


async def test_debug_information_holds_no_text(vscode: Client, tmp_path: Path):
    uri = open_document(vscode, tmp_path / "a.py", HEAD + "secret = 1\n")
    await findings(vscode, uri)
    for arguments in (None, []):  # VS Code's client sends an empty list
        command = types.ExecuteCommandParams("tapelint.debugInformation", arguments)
        information = await vscode.workspace_execute_command_async(command)
        assert information["diagnostics"] == "pull" and information["positionEncoding"] == "utf-16"
        assert uri in [document["uri"] for document in information["documents"]]
        assert "secret" not in str(information)


async def _until(done, timeout: float = 5.0) -> None:
    deadline = time.monotonic() + timeout
    while not done():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
