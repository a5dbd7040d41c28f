"""``textDocument/codeAction``: the lightbulb.

Fixes are made and verified for the findings in the range that is asked for, once. Where the client can wait for the
edit until the user has chosen, it is made then, and refused if the text has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.uris import from_fs_path

from ...headline import capitalized
from ...report.diagnostic import FileEdits, Fix
from ...source import Source
from ...source.suppression.adding import ignore_here, ignore_in_file
from ...workspace import Resolver
from ..analysis_result import AnalysisResult
from ..convert.text_edits import OtherDocument, workspace_edit
from ..delays import DELAYS
from ..transport.json_rpc import content_modified
from . import fixes_elsewhere, many_fixes
from .many_fixes import data_of

if TYPE_CHECKING:
    from ..server import Server

QUICK_FIX = types.CodeActionKind.QuickFix.value
KINDS = [types.CodeActionKind.QuickFix, many_fixes.KIND, many_fixes.KIND_IN_NOTEBOOK]
OPTIONS = types.CodeActionOptions(code_action_kinds=KINDS, resolve_provider=True)
WITHOUT_RESOLVE = types.CodeActionOptions(code_action_kinds=KINDS)

# How long the lightbulb may wait for fixes not computed yet: an editor shows it only when all servers answered.


async def code_action(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    """The actions for the text as it is now. Once that has changed the range means nothing any more, and the client is
    told so; one that asks for all fixes means no range, and gets those of the newer text. Newer settings alone are
    waited for.
    """
    uri, is_about_all = params.text_document.uri, not _is_about_range(params.context.only)
    while ls.client.takes_actions and ls.session.has_program(uri):
        result = await ls.session.result(uri)
        if result is not None and result.report is None:
            return []
        if result is not None and result.report is not None:
            counted = result.result_id  # findings are counted by what is shown, which may become more meanwhile
            actions = await _actions(ls, result, result.report.source, params)
            if not result.token() and result.result_id == counted:
                return actions
        if not is_about_all and (result is None or not ls.session.has_text_of(result)):
            raise content_modified()
    return []


async def _actions(
    ls: Server, result: AnalysisResult, source: Source, params: types.CodeActionParams
) -> list[types.CodeAction]:
    """One action for each fix of each finding in range, one for all fixes of its rule, one to silence each code, and
    all safe fixes if asked for.
    """
    only = params.context.only
    actions: list[types.CodeAction] = []
    if _is_about_range(only):
        touched = _in_range(result, params)
        unasked = params.context.trigger_kind == types.CodeActionTriggerKind.Automatic
        patience = DELAYS.fixes if unasked else DELAYS.fixes_asked_for
        await many_fixes.computed(ls, result, touched, patience)
        of_rules = await many_fixes.of_rules(ls, result, touched, patience)
        if result.token():
            return []  # its tree is that of newer text by now
        actions += _quick_fixes(ls, result, touched)
        actions += of_rules
        actions += _refusals(ls, result, touched)
        actions += _silencers(ls, result, source, touched)
    kind = many_fixes.KIND_IN_NOTEBOOK if result.snapshot.documents else many_fixes.KIND
    if only and _wanted(kind, only) and result.findings:
        actions += await many_fixes.of_everything(ls, result, kind)
    return actions


def _in_range(result: AnalysisResult, params: types.CodeActionParams) -> list[int]:
    """The subjects, by index, that the request's range touches in the request's document: where they are reported, or
    where PyTorch raises or a range of comments ends.
    """
    here = result.snapshot.row_offset(params.text_document.uri)

    return [
        index
        for index, subject in enumerate(result.subjects)
        if any(
            _touch(shown.range, params.range) and result.snapshot.cell_of(span)[1] == here
            for shown, span in subject.places
        )
    ]


def _quick_fixes(ls: Server, result: AnalysisResult, touched: list[int]) -> list[types.CodeAction]:
    """One action for each fix that is known of the findings ``touched``."""
    actions = (
        _fix_action(ls, result, index, number, fix)
        for index in touched
        for number, fix in enumerate(result.known_fixes(index))
    )
    return [action for action in actions if action is not None]


def _refusals(ls: Server, result: AnalysisResult, touched: list[int]) -> list[types.CodeAction]:
    """One action that cannot be chosen for each finding without a fix: it says why there is none."""
    if not ls.client.shows_disabled:
        return []
    why = {index: result.known_offer(index).no_fix for index in touched}
    return [
        types.CodeAction(
            title=f"No safe fix for {result.subjects[index].finding.code}",
            kind=QUICK_FIX,
            diagnostics=[result.subjects[index].shown[0]],
            disabled=types.CodeActionDisabled(reason=capitalized(reason)),
        )
        for index, reason in why.items()
        if reason is not None
    ]


async def resolve(ls: Server, action: types.CodeAction) -> types.CodeAction:
    """The edit of a chosen action, as long as its text is still there."""
    data: Any = action.data if isinstance(action.data, dict) else {}
    if action.edit is not None or not data:
        return action
    # Fixes are counted by the findings of one result; all of them are those of the text, under whatever settings.
    is_all, uri = data.get("kind") == "all", str(data.get("uri"))
    result = await ls.session.result(uri) if is_all else ls.session.known(uri)
    if result is None or data.get("version") != result.snapshot.version:
        raise content_modified()
    if not is_all and data.get("result") != result.result_id:
        raise content_modified()
    if is_all:
        made = await many_fixes.repaired(ls, result, data.get("code"))
        edit = workspace_edit(made.edits, result, ls.client)
    else:
        edit = _chosen(ls, result, data)
    if result.token() or edit is None:
        raise content_modified()
    action.edit = edit
    return action


def _chosen(ls: Server, result: AnalysisResult, data: dict[str, Any]) -> types.WorkspaceEdit | None:
    """The edit of one fix: nothing to do where there is no such fix, None as for ``_edit``."""
    known = dict(enumerate(result.known_fixes(data.get("index", -1))))
    fix = known.get(data.get("number", -1))
    return _edit(ls, result, fix) if fix is not None else workspace_edit((), result, ls.client)


def _edit(ls: Server, result: AnalysisResult, fix: Fix) -> types.WorkspaceEdit | None:
    """What a fix does to the documents; None where another one has a text by now that it was not made for, or an edit
    reaches over the end of a cell.
    """
    others = [_other_document(ls, change) for change in fix.others]
    known = [other for other in others if other is not None]
    if len(known) < len(others):
        return None
    return workspace_edit(fix.edits, result, ls.client, known)


def _other_document(ls: Server, change: FileEdits) -> OtherDocument | None:
    """Another file that a fix edits: as the client has it open, or as it is on disk."""
    opened = ls.session.document_at(change.filename)
    text = opened.text if opened is not None else Resolver().text(change.filename)
    uri = opened.uri if opened is not None else from_fs_path(change.filename)
    if uri is None or text != change.text or opened is not None and opened.documents:
        return None
    return OtherDocument(uri, opened.version if opened is not None else None, change)


def _fix_action(ls: Server, result: AnalysisResult, index: int, number: int, fix: Fix) -> types.CodeAction | None:
    edit = _edit(ls, result, fix)
    if edit is None:
        return None
    preferred = fix.preferred and fix.applicability == "safe"
    return types.CodeAction(
        title=fix.title,
        kind=QUICK_FIX,
        diagnostics=[result.subjects[index].shown[0]],
        is_preferred=True if preferred and ls.client.shows_preferred else None,
        edit=None if ls.client.resolves_edits else edit,
        data=data_of(result, "fix", index=index, number=number) if ls.client.resolves_edits else None,
        command=fixes_elsewhere.command(ls, result, fix) if fix.others else None,
    )


def _silencers(ls: Server, result: AnalysisResult, source: Source, touched: list[int]) -> list[types.CodeAction]:
    """One "ignore" for each code and line, however many findings share them, and one for each code in the file. What
    is reported in another file is ignored there.
    """
    shown_by: dict[tuple[str, int], list[types.Diagnostic]] = {}
    for subject in (result.subjects[index] for index in touched):
        if subject.is_reported_here:
            finding, (shown, _) = subject.finding, subject.shown
            shown_by.setdefault((finding.code, finding.span.row), []).append(shown)
    by_code: dict[str, list[types.Diagnostic]] = {}
    for (code, _), each in shown_by.items():
        by_code.setdefault(code, []).extend(each)
    where = "notebook" if source.cells else "file"
    offers = [
        *(
            (f"Ignore {code} on this line", shown, ignore_here(source, code, row))
            for (code, row), shown in shown_by.items()
        ),
        *((f"Ignore {code} in this {where}", shown, ignore_in_file(source, code)) for code, shown in by_code.items()),
    ]
    made = (
        (title, shown, workspace_edit([edit], result, ls.client)) for title, shown, edit in offers if edit is not None
    )
    return [
        types.CodeAction(title, kind=QUICK_FIX, diagnostics=shown, edit=change)
        for title, shown, change in made
        if change is not None
    ]


def _wanted(kind: str, only: Iterable[str | types.CodeActionKind] | None) -> bool:
    """Whether the client asked for ``kind``; asking for a kind asks for all below it."""
    asked = [str(getattr(entry, "value", entry)) for entry in only or ()]
    return any(not entry or kind == entry or kind.startswith(f"{entry}.") for entry in asked)


def _is_about_range(only: Sequence[str | types.CodeActionKind] | None) -> bool:
    """Whether the client asked for quick fixes, which belong to places."""
    return not only or _wanted(QUICK_FIX, only)


def _touch(one: types.Range, other: types.Range) -> bool:
    return one.start <= other.end and other.start <= one.end
