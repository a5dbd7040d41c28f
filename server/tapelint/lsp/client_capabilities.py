"""What this editor can do, read once from the hundreds of optional fields it declares."""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pygls.capabilities import get_capability

from ..frozen import frozen

SHOWS_FINDINGS = "showsFindingsBesideHovers"
"""The initialization option of an editor whose hovers have the diagnostics at the cursor, too."""


@frozen
class ClientCapabilities:
    """One yes or no for each choice the server has to make."""

    name: str = "unknown"
    encoding: str = "utf-16"
    pulls: bool = False
    registers_pulls: bool = False
    refreshes: bool = False
    refreshes_hints: bool = False
    refreshes_lenses: bool = False
    shows_related: bool = False
    shows_links: bool = False
    fades: bool = False
    keeps_data: bool = False
    has_versioned_edits: bool = False
    applies_edits: bool = False
    takes_actions: bool = False
    resolves_edits: bool = False
    shows_preferred: bool = False
    shows_disabled: bool = False
    reads_markdown: bool = False
    hovers_findings: bool = False
    shows_progress: bool = False
    shows_documents: bool = False
    has_settings: bool = False
    registers_settings: bool = False
    registers_watchers: bool = False

    @classmethod
    def from_params(cls, params: types.InitializeParams, encoding: str) -> ClientCapabilities:
        def has(path: str) -> bool:
            return bool(get_capability(params.capabilities, path, False))

        def listed(path: str) -> list[Any]:
            return list(get_capability(params.capabilities, path, None) or [])

        pulls = get_capability(params.capabilities, "text_document.diagnostic", None) is not None
        channel = "text_document.diagnostic" if pulls else "text_document.publish_diagnostics"
        formats = listed("text_document.hover.content_format")
        options = params.initialization_options if isinstance(params.initialization_options, dict) else {}
        return cls(
            name=f"{who.name} {who.version or ''}".strip() if (who := params.client_info) else "unknown",
            encoding=encoding,
            pulls=pulls,
            registers_pulls=has("text_document.diagnostic.dynamic_registration"),
            refreshes=has("workspace.diagnostics.refresh_support"),
            refreshes_hints=has("workspace.inlay_hint.refresh_support"),
            refreshes_lenses=has("workspace.code_lens.refresh_support"),
            # Pulling clients declared these under publishDiagnostics until 3.18 gave them a place of their own.
            shows_related=has(f"{channel}.related_information")
            or has("text_document.publish_diagnostics.related_information"),
            shows_links=has(f"{channel}.code_description_support")
            or has("text_document.publish_diagnostics.code_description_support"),
            fades=types.DiagnosticTag.Unnecessary
            in (
                listed(f"{channel}.tag_support.value_set")
                or listed("text_document.publish_diagnostics.tag_support.value_set")
            ),
            keeps_data=has(f"{channel}.data_support") or has("text_document.publish_diagnostics.data_support"),
            has_versioned_edits=has("workspace.workspace_edit.document_changes"),
            applies_edits=has("workspace.apply_edit"),
            takes_actions=get_capability(
                params.capabilities, "text_document.code_action.code_action_literal_support", None
            )
            is not None,
            resolves_edits="edit" in listed("text_document.code_action.resolve_support.properties")
            and has("text_document.code_action.data_support"),
            shows_preferred=has("text_document.code_action.is_preferred_support"),
            shows_disabled=has("text_document.code_action.disabled_support"),
            reads_markdown=formats[:1] == [types.MarkupKind.Markdown],
            hovers_findings=options.get(SHOWS_FINDINGS) is True,
            shows_progress=has("window.work_done_progress"),
            shows_documents=has("window.show_document.support"),
            has_settings=has("workspace.configuration"),
            registers_settings=has("workspace.did_change_configuration.dynamic_registration"),
            registers_watchers=has("workspace.did_change_watched_files.dynamic_registration"),
        )
