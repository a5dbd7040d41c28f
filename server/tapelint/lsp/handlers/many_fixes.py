"""Many fixes at once: of a file or notebook, or of one rule in it; asked for in the lightbulb or by a command.

    {"command": "tapelint.fixAll", "arguments": ["file:///home/me/train.py", "TL102"]}

The second argument is optional: the one rule whose findings are to be fixed. The command has the client apply the edit
(``workspace/applyEdit``), and answers how many fixes were made, and whether they were applied.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from ...frozen import frozen
from ...report.diagnostic import unasked
from ...source.edit import Edit
from .. import deferred
from ..analysis_result import AnalysisResult
from ..convert.text_edits import workspace_edit
from ..delays import DELAYS
from ..transport.json_rpc import content_modified

if TYPE_CHECKING:
    from ..server import Server

COMMAND = "tapelint.fixAll"
KIND = "source.fixAll.tapelint"
KIND_IN_NOTEBOOK = "notebook.source.fixAll.tapelint"

# No round of fixes is begun after so many seconds: what is left is left to the next time.
SEVERAL = 2
"""So many findings of a rule have a safe fix where "Fix all" is more than the fix of one."""
LOOKED_AT = 3
"""So many findings of the rule are looked at to know that: what cures one mostly cures the next."""


@frozen
class Repair:
    """What is to be edited, and how many fixes that makes."""

    edits: tuple[Edit, ...] = ()
    fixes: int = 0


async def computed(ls: Server, result: AnalysisResult, indices: Iterable[int], patience: float | None) -> None:
    """See that the fixes of ``indices`` are computed, as far as that can be done in time. The rest is left to idle
    hours.
    """
    worker = ls.session.worker
    jobs = [result.fixes(index, worker) for index in indices]
    if jobs:
        with worker.hurried(jobs):
            await asyncio.wait({job.future for job in jobs}, timeout=patience)


async def of_everything(ls: Server, result: AnalysisResult, kind: str) -> list[types.CodeAction]:
    """The action that applies safe fixes until none is left; none where there is no safe fix."""
    action = types.CodeAction("Fix all tapelint findings that have a safe fix", kind=kind)
    with ls.long_work.over("tapelint", "looking for fixes"):
        is_any = await _are_there(ls, result, range(len(result.findings)), 1, None)
    if result.token() or not is_any:
        return []
    action.data = data_of(result, "all")
    if not ls.client.resolves_edits:
        made = await repaired(ls, result)
        if not made.edits:
            return []
        action.edit = workspace_edit(made.edits, result, ls.client)
    return [action]


async def of_rules(
    ls: Server, result: AnalysisResult, touched: Iterable[int], patience: float
) -> list[types.CodeAction]:
    """For each rule of the findings ``touched`` that has several findings with a safe fix: the action that fixes them
    all. A client that cannot wait for its edit is given the command instead.
    """
    if not (ls.client.resolves_edits or ls.client.applies_edits):
        return []
    actions = []
    by_code: dict[str, list[int]] = {}
    for index in touched:
        by_code.setdefault(result.subjects[index].finding.code, []).append(index)
    for code, own in by_code.items():
        if not await _has_several(ls, result, code, patience):
            continue
        title = f"Fix all {code} in this {'notebook' if result.snapshot.documents else 'file'}"
        action = types.CodeAction(title, kind=types.CodeActionKind.QuickFix)
        action.diagnostics = [result.subjects[index].shown[0] for index in own]
        if ls.client.resolves_edits:
            action.data = data_of(result, "all", code=code)
        else:
            action.command = types.Command(title, COMMAND, arguments=[result.snapshot.uri, code])
        actions.append(action)
    return actions


async def _has_several(ls: Server, result: AnalysisResult, code: str, patience: float) -> bool:
    """Whether several findings of a rule have a safe fix, as far as that is found out in time and by the first few of
    them. Those that other files have shown do not count: their fixes are made there.
    """
    indices = [index for index, (finding, _) in enumerate(result.own) if finding.code == code]
    if len(indices) < SEVERAL:
        return False
    indices.sort(key=lambda index: not result.is_offer_known(index))
    looked_at = max(LOOKED_AT, sum(map(result.is_offer_known, indices)))
    return await _are_there(ls, result, indices[:looked_at], SEVERAL, patience)


async def _are_there(
    ls: Server, result: AnalysisResult, indices: Iterable[int], wanted: int, patience: float | None
) -> bool:
    """Whether so many of the findings have a safe fix; one after the other is looked at until that is known."""
    clock = asyncio.get_running_loop().time
    end = None if patience is None else clock() + patience
    found = 0
    for index in indices:
        left = None if end is None else end - clock()
        if result.token() or left is not None and left <= 0:
            break
        await computed(ls, result, [index], left)
        found += _has_safe_fix(result, index)
        if found >= wanted:
            return True
    return False


def _has_safe_fix(result: AnalysisResult, index: int) -> bool:
    return unasked(result.known_fixes(index), unsafe=False) is not None


async def repaired(ls: Server, result: AnalysisResult, code: str | None = None) -> Repair:
    """What makes the text that ``--fix`` makes, or of it what the one rule ``code`` asks for."""
    report, token = result.report, result.token
    if report is None:
        return Repair()

    def made(is_over: Callable[[], bool]) -> Repair:
        after = deferred.fix_all.repair(report, False, is_over, DELAYS.many_fixes, code)
        return Repair(deferred.analysis.differences(report, after.report), after.fixes)

    worker = ls.session.worker
    job = worker.submit_idle(made, token)
    with ls.long_work.over("tapelint", f"fixing all {code or 'findings'}"), worker.hurried([job]):
        await asyncio.wait({job.future})
    if token():
        raise content_modified()
    done: Repair = job.future.result()
    return done


async def fix_all(ls: Any, *arguments: Any) -> dict[str, object]:
    """The command; see ``about.information`` for why the server has no type here."""
    uri, code = (*map(str, filter(None, arguments)), "", "")[:2]
    result = await ls.session.result(uri)
    made = await repaired(ls, result, code or None) if result is not None else Repair()
    edit = workspace_edit(made.edits, result, ls.client) if made.edits else None
    if edit is None:
        said = f"No finding{f' of {code}' if code else ''} here has a safe fix."
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, said))
        return {"fixes": 0, "applied": False}
    label = f"Fix all {code}" if code else "Fix all"
    answer = await asyncio.wrap_future(ls.workspace_apply_edit(types.ApplyWorkspaceEditParams(edit, label)))
    return {"fixes": made.fixes, "applied": answer.applied}


def data_of(result: AnalysisResult, kind: str, **rest: object) -> dict[str, object]:
    """What an action carries until its edit is asked for."""
    snapshot = result.snapshot
    return {"uri": snapshot.uri, "version": snapshot.version, "result": result.result_id, "kind": kind, **rest}
