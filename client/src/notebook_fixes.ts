/**
 * All fixes of a notebook that begins with text. VS Code asks for them at its first cell alone, and no language server for
 * Python is asked about Markdown: the answer is that of the first cell with Python in it.
 */

import * as vscode from 'vscode';

const KIND = vscode.CodeActionKind.Notebook.append('source.fixAll.tapelint');

export class NotebookFixes implements vscode.CodeActionProvider, vscode.Disposable {
    private readonly registered: vscode.Disposable;

    constructor() {
        const selector = [{ notebookType: 'jupyter-notebook', language: 'markdown' }];
        this.registered = vscode.languages.registerCodeActionsProvider(selector, this, { providedCodeActionKinds: [KIND] });
    }

    dispose(): void {
        this.registered.dispose();
    }

    async provideCodeActions(
        document: vscode.TextDocument, _range: vscode.Range, { only }: vscode.CodeActionContext,
    ): Promise<vscode.CodeAction[]> {
        if (!only?.contains(KIND)) {
            return [];
        }
        const cells = vscode.workspace.notebookDocuments.map((book) => book.getCells());
        const own = cells.find((all) => all.some((cell) => cell.document === document)) ?? [];
        const first = own.find((cell) => cell.document.languageId === 'python')?.document.uri;
        if (first === undefined) {
            return [];
        }
        const start = new vscode.Range(0, 0, 0, 0);
        return vscode.commands.executeCommand('vscode.executeCodeActionProvider', first, start, KIND.value, 1);
    }
}
