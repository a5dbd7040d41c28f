"""What clients declare that they can do."""

from __future__ import annotations

# What a current VS Code declares, as far as this server looks at it.
VSCODE = {
    "workspace": {
        "applyEdit": True,
        "configuration": True,
        "diagnostics": {"refreshSupport": True},
        "didChangeConfiguration": {"dynamicRegistration": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
        "workspaceEdit": {
            "documentChanges": True,
            "resourceOperations": ["create", "rename", "delete"],
            "changeAnnotationSupport": {"groupsOnLabel": True},
        },
        "workspaceFolders": True,
    },
    "textDocument": {
        "codeAction": {
            "dynamicRegistration": True,
            "isPreferredSupport": True,
            "disabledSupport": True,
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit", "command"]},
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["", "quickfix", "refactor", "source"]}},
        },
        "diagnostic": {"dynamicRegistration": True, "relatedDocumentSupport": False},
        "hover": {"dynamicRegistration": True, "contentFormat": ["markdown", "plaintext"]},
        "publishDiagnostics": {
            "relatedInformation": True,
            "versionSupport": False,
            "tagSupport": {"valueSet": [1, 2]},
            "codeDescriptionSupport": True,
            "dataSupport": True,
        },
        "synchronization": {"dynamicRegistration": True, "didSave": True, "willSave": True},
    },
    "window": {"workDoneProgress": True},
    "general": {"positionEncodings": ["utf-16"], "staleRequestSupport": {"cancel": True, "retryOnContentModified": []}},
}

# A client that is told instead of asking, and takes edits at once.
PUSHED = {
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "versionSupport": True},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source"]}}},
        "hover": {"contentFormat": ["plaintext"]},
    },
    "workspace": {"workspaceEdit": {"documentChanges": True}},
}
